import { randomBytes } from 'node:crypto';
import { closeSync, fdatasyncSync, fsyncSync, openSync, readFileSync, truncateSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

/** All changes of a chain, in order. Replayed on the same genesis they make the same chain. */
export type JournalEntry =
  /** A transaction as it was accepted in that slot, in base64. */
  | { readonly kind: 'transaction'; readonly slot: number; readonly raw: string }
  | ({ readonly kind: 'funded'; readonly owner: string; readonly usdc_account: string } & AccountFunds)
  /** Number of slots that passed at once. */
  | { readonly kind: 'skipped'; readonly slots: number }
  /** New length of all later slots. */
  | { readonly kind: 'paced'; readonly slot_ms: number; readonly at_ms: number }
  /** The transaction is lost, because the chain abandoned the fork that contained it. */
  | { readonly kind: 'forgotten'; readonly signature: string };

export interface AccountFunds {
  /** Decimal digits, because JSON has no bigint. */
  readonly usdc_atomic: string;
  readonly lamports: string;
}

/** First line of the journal. */
export interface Genesis {
  /** 32 bytes in hex, which distinguish two chains with otherwise equal data. */
  readonly seed: string;
  readonly started_ms: number;
}

export interface Journal {
  readonly genesis: Genesis;
  /** Entries that were written before this process began. */
  readonly past: readonly JournalEntry[];
  /**
   * Writes an entry. It returns when the entry is on disk. @throws if the entry cannot be written; until the next start it is then
   * unknown how much of it was written
   */
  append(deed: JournalEntry): void;
  close(): void;
}

/** Opens the journal, or begins a new one. An incomplete last line was never confirmed, and is removed. */
export function openJournal(path: string, now_ms: number): Journal {
  const lines = soundLines(path);
  const [genesis, ...past] = lines.map(line => JSON.parse(line) as unknown);
  const file = openSync(path, 'a', 0o600);
  const write = (value: unknown) => {
    writeSync(file, `${JSON.stringify(value)}\n`);
    fdatasyncSync(file);
  };
  const begun: Genesis = (genesis as Genesis | undefined) ?? {
    seed: randomBytes(32).toString('hex'),
    started_ms: now_ms,
  };
  if (genesis === undefined) {
    write(begun);
    syncFolder(dirname(path));
  }
  return { genesis: begun, past: past as JournalEntry[], append: write, close: () => closeSync(file) };
}

function soundLines(path: string): string[] {
  const text = readOrEmpty(path);
  const end = text.lastIndexOf('\n') + 1;
  if (end < text.length) truncateSync(path, Buffer.byteLength(text.slice(0, end)));
  return text.slice(0, end).split('\n').filter(Boolean);
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}

/** Writes the folder to disk. Otherwise the file's name could be lost in a power failure, although its content is not. */
function syncFolder(folder: string): void {
  const file = openSync(folder, 'r');
  fsyncSync(file);
  closeSync(file);
}
