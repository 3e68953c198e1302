# SPDX-License-Identifier: Apache-2.0
"""`python -m corymb` is the command."""

from corymb.command import main

if __name__ == "__main__":
    main()
