/* Splits signed notes (https://c2sp.org/signed-note) without verifying them. open-checkpoint.ts verifies their signatures. */

export interface NoteSignature {
  readonly name: string;
  /** Short id of a key with that name; it proves nothing. */
  readonly key_id: Buffer;
  readonly signature: Buffer;
  /** The whole line, with its line feed. */
  readonly line: string;
}

export interface SplitNote {
  /** The signed text, with its last line feed. */
  readonly text: string;
  readonly signatures: readonly NoteSignature[];
}

/** Maximum length of a note. At least sixteen signatures of 5 kB each, as large as post-quantum ones can be, must be accepted. */
export const NOTE_BYTES_MAX = 128 * 1024;
const SIGNATURES_MAX = 64;
const KEY_ID_BYTES = 4;

/** A line with a signature. Key names contain no Unicode white space, which differs slightly from `\s`. */
const LINE = /^\u2014 (?<name>[^\p{White_Space}+]+) (?<value>[A-Za-z0-9+/]+={0,2})$/u;

/** Splits a note. Null if it is not one: not UTF-8, with a control character, too long, or without a well-formed signature. */
export function splitNote(note: string): SplitNote | null {
  if (!isPlainText(note)) return null;
  // The text may contain empty lines: the last one ends it.
  const blank = note.lastIndexOf('\n\n');
  if (blank < 0 || !note.endsWith('\n')) return null;
  const lines = note.slice(blank + 2, -1).split('\n');
  if (lines.length > SIGNATURES_MAX) return null;
  const signatures = lines.map(signatureIn).filter(signature => signature !== null);
  return signatures.length === lines.length ? { text: note.slice(0, blank + 1), signatures } : null;
}

function isPlainText(note: string): boolean {
  if (note.length > NOTE_BYTES_MAX || Buffer.byteLength(note) > NOTE_BYTES_MAX || !note.isWellFormed()) return false;
  return !/[^\P{Cc}\n\u007f-\u009f]/u.test(note);
}

function signatureIn(line: string): NoteSignature | null {
  const { name, value } = LINE.exec(line)?.groups ?? {};
  const bytes = base64(value ?? '');
  if (name === undefined || bytes === null || bytes.length <= KEY_ID_BYTES) return null;
  const key_id = bytes.subarray(0, KEY_ID_BYTES);
  return { name, key_id, signature: bytes.subarray(KEY_ID_BYTES), line: `${line}\n` };
}

/** Decodes base64 (RFC 4648 §4). Null if the bytes do not encode back to the same text, so that each value has only one text. */
export function base64(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : null;
}

const HASH_LENGTH = 32;

/** Reads a SHA-256 in base64, as checkpoints and proofs contain it; null for any other text. */
export function base64Hash(text: string): Buffer | null {
  const bytes = base64(text);
  return bytes?.length === HASH_LENGTH ? bytes : null;
}

/** Reads a size or an index, in decimal without leading zeroes; null for any other text, and above the largest safe integer. */
export function decimalIn(text: string): number | null {
  const value = /^(0|[1-9]\d{0,15})$/.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(value) ? value : null;
}
