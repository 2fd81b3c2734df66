# SPDX-License-Identifier: Apache-2.0
"""What `image sign` takes for a kernel."""

import struct


def bzimage(content=b""):
    """Header of boot protocol 2.15, 64 bits, then anything."""
    head = bytearray(0x400)
    head[0x1FE:0x200] = b"\x55\xaa"
    head[0x202:0x206] = b"HdrS"
    struct.pack_into("<H", head, 0x206, 0x020F)
    head[0x211] = 1
    struct.pack_into("<H", head, 0x236, 0x3F)
    return bytes(head) + content
