import { randomBytes } from 'node:crypto';
import { closeSync, fdatasyncSync, fsyncSync, openSync, readFileSync, truncateSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

/** All that ever happened to a chain, in order: whoever applies it to the same genesis has the same chain. */
export type Deed =
  /** Raw bytes in base64, as accepted in that slot. */
  | { readonly kind: 'transaction'; readonly slot: number; readonly raw: string }
  | ({ readonly kind: 'funded'; readonly owner: string; readonly usdc_account: string } & AccountFunds)
  /** Slots that passed at once. */
  | { readonly kind: 'skipped'; readonly slots: number }
  /** From then on a slot lasts so long. */
  | { readonly kind: 'paced'; readonly slot_ms: number; readonly at_ms: number }
  /** The fork that held it was abandoned. */
  | { readonly kind: 'forgotten'; readonly signature: string };

export interface AccountFunds {
  /** Decimal strings: JSON has no bigint. */
  readonly usdc_atomic: string;
  readonly lamports: string;
}

/** First line of the journal. */
export interface Genesis {
  /** 32 bytes of hex: tells two chains apart that were made alike. */
  readonly seed: string;
  readonly started_ms: number;
}

export interface Journal {
  readonly genesis: Genesis;
  /** What was written before this process began. */
  readonly past: readonly Deed[];
  /** Is on disk when it returns. @throws when it cannot be: then the journal's end is in doubt, and only a new start mends it. */
  append(deed: Deed): void;
  close(): void;
}

/** Opens the journal, or begins one. A last line that a death cut off was never answered for, and goes. */
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
  return { genesis: begun, past: past as Deed[], append: write, close: () => closeSync(file) };
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

/** Without it the file's name may not outlive a power cut, though its content does. */
function syncFolder(folder: string): void {
  const file = openSync(folder, 'r');
  fsyncSync(file);
  closeSync(file);
}
