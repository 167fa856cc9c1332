// Values as texts: durations, sizes, ids, bytes.

/** A duration such as `1m 05s`, `12.3s` or `250ms`. */
export function duration(ms) {
  if (ms < 1000) return `${Math.round(ms)}ms`;
  const seconds = ms / 1000;
  if (seconds < 60) return `${seconds.toFixed(1)}s`;
  const two = (number) => String(Math.floor(number)).padStart(2, "0");
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m ${two(seconds % 60)}s`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)}h ${two((seconds % 3600) / 60)}m`;
  return `${Math.floor(seconds / 86400)}d ${two((seconds % 86400) / 3600)}h`;
}

/** A time of the server's clock, counted from its start: `1:02:03.456`. */
export function moment(ms) {
  const two = (number) => String(Math.floor(number)).padStart(2, "0");
  const rest = `${two((ms / 60000) % 60)}:${two((ms / 1000) % 60)}.${String(Math.floor(ms % 1000)).padStart(3, "0")}`;
  return `${Math.floor(ms / 3600000)}:${rest}`;
}

/** A duration of Go's in nanoseconds, as Consul's JSON has it. */
export function goDuration(value) {
  return typeof value === "number" ? duration(value / 1e6) : String(value ?? "");
}

export function size(bytes) {
  if (bytes < 1024) return `${bytes} B`;
  return bytes < 1048576 ? `${(bytes / 1024).toFixed(1)} KiB` : `${(bytes / 1048576).toFixed(1)} MiB`;
}

export const count = (number, one, many = `${one}s`) => `${number.toLocaleString("en")} ${number === 1 ? one : many}`;

/** The first part of an id. */
export const short = (id) => (/^[0-9a-f]{8}-/i.test(id) ? id.slice(0, 8) : id);

/** A hue that is always the same for a text. Those of texts that differ in the number at their end are far apart. */
export function hue(text) {
  const [, stem, number] = /^(.*?)(\d{0,6})$/s.exec(text);
  let sum = 2166136261;
  for (let at = 0; at < stem.length; at += 1) sum = Math.imul(sum ^ stem.charCodeAt(at), 16777619);
  return Math.round((sum >>> 8) + Number(number) * 137.508) % 360;
}

export function fromBase64(text) {
  const binary = atob(text ?? "");
  return Uint8Array.from(binary, (letter) => letter.charCodeAt(0));
}

export function toBase64(bytes) {
  let binary = "";
  for (let at = 0; at < bytes.length; at += 32768) binary += String.fromCharCode(...bytes.subarray(at, at + 32768));
  return btoa(binary);
}

/** The text that bytes are; `null` if they are none. */
export function textOf(bytes) {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return /[\0-\x08\x0e-\x1f]/.test(text) ? null : text;
  } catch {
    return null;
  }
}

const hexOf = (byte) => byte.toString(16).padStart(2, "0");

/** Bytes as pairs of hexadecimal digits. */
export const hex = (bytes) => Array.from(bytes, hexOf).join(" ");

/** The bytes that hexadecimal digits stand for; `null` if they stand for none. */
export function fromHex(text) {
  const digits = text.replace(/\s+/g, "");
  if (digits.length % 2 || /[^0-9a-f]/i.test(digits)) return null;
  return Uint8Array.from(digits.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}

/** A line of a hex dump. */
export function hexLine(bytes, line) {
  const part = bytes.subarray(line * 16, line * 16 + 16);
  const letters = Array.from(part, (byte) => (byte > 31 && byte < 127 ? String.fromCharCode(byte) : "·"));
  return `${(line * 16).toString(16).padStart(8, "0")}  ${hex(part).padEnd(48)} ${letters.join("")}`;
}
