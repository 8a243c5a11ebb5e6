"""Compares the packs of a folder with the manifest's checksums: python -m viva.check_manifest packs"""

import hashlib
import json
import pathlib
import sys


def main():
    folder = pathlib.Path(sys.argv[1])
    manifest = json.loads((pathlib.Path(__file__).parents[1] / "manifest.json").read_text())
    wrong = 0
    for pack in manifest["packs"]:
        for name, expected in pack["files"].items():
            path = folder / name
            found = hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else None
            if found != expected:
                wrong += 1
                print(name, "is not there" if found is None else "has another checksum")
    print("all packs are as the manifest says" if wrong == 0 else f"{wrong} files are not")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
