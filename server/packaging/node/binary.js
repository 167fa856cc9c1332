// Finding the server's binary.

import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

const NAME = process.platform === "win32" ? "proconsul.exe" : "proconsul";

/** Names the binary, in place of the one that the package brings. */
export const VARIABLE = "PROCONSUL_BINARY";

function isProgram(file) {
  try {
    fs.accessSync(file, fs.constants.X_OK);
    return fs.statSync(file).isFile();
  } catch {
    return false;
  }
}

function onPath(name) {
  const folders = (process.env.PATH ?? "").split(path.delimiter).filter(Boolean);
  return folders.map((folder) => path.join(folder, name)).find(isProgram);
}

function ofPackage() {
  const name = `@proconsul/${process.platform}-${process.arch}`;
  try {
    const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`);
    return path.join(path.dirname(manifest), "bin", NAME);
  } catch {
    return undefined;
  }
}

/** The path of the binary, as below; undefined where none is named and none is found. */
function lookFor(binary) {
  for (const [given, whence] of [[binary, "binary"], [process.env[VARIABLE], VARIABLE]]) {
    if (given) {
      const found = given.includes(path.sep) ? [given].find(isProgram) : onPath(given);
      if (!found) throw new Error(`${whence} names "${given}", which is not a program that can be run`);
      return found;
    }
  }
  return [ofPackage()].find((file) => file && isProgram(file)) ?? onPath(NAME);
}

/** Whether there is a binary. One that is named has to be there. */
export const hasBinary = (binary) => lookFor(binary) !== undefined;

/**
 * Returns the path of the server's binary: the argument, what PROCONSUL_BINARY names, what the package for this platform
 * brings, or what is on the PATH.
 */
export function findBinary(binary) {
  const found = lookFor(binary);
  if (!found) {
    throw new Error(
      `the binary of proconsul is not there: there is no package @proconsul/${process.platform}-${process.arch}, or ` +
        `optional dependencies were left out. Build it with \`cargo install --path server/cli\` in a clone of proconsul, or name it with ${VARIABLE}`,
    );
  }
  return found;
}
