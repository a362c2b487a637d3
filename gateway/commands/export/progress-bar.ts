import type { WriteStream } from 'node:tty';

export interface ProgressBar {
  show(done: number): void;
  /** Ends the bar's line. */
  end(): void;
}

const WIDTH = 30;
const EVERY_MS = 100;

/** Opens a progress bar on one line of a terminal. Without a terminal it writes nothing. `total` is null if it is unknown. */
export function progressBar(
  terminal: Pick<WriteStream, 'isTTY' | 'write'>,
  { unit, total }: { readonly unit: string; readonly total: number | null },
): ProgressBar {
  if (!terminal.isTTY) return { show() {}, end() {} };
  let shown_ms = 0;
  let last = 0;
  const draw = () => terminal.write(`\r${lineOf(last, unit, total)}`);
  return {
    show(done) {
      last = done;
      if (Date.now() - shown_ms < EVERY_MS) return;
      shown_ms = Date.now();
      draw();
    },
    end() {
      draw();
      terminal.write('\n');
    },
  };
}

function lineOf(done: number, unit: string, total: number | null): string {
  const count = done.toLocaleString('en');
  if (total === null) return `${count} ${unit}`;
  const share = total === 0 ? 1 : Math.min(1, done / total);
  const full = Math.round(share * WIDTH);
  return `[${'#'.repeat(full)}${'.'.repeat(WIDTH - full)}] ${Math.floor(share * 100)}% ${count} of ${total.toLocaleString('en')} ${unit}`;
}
