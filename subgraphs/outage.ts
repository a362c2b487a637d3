import pg from 'pg';
import { Refusal } from '../schema/errors.ts';

/**
 * SQLSTATEs of failures that may be over a moment later: no connection (08), read-only (25006), our session was ended because this process
 * stalled or was too slow (25P03, 25P04), no disk space, memory or connections left (53), a lock was held too long (55P03), the server
 * shuts down or starts (57P), the disk does not respond (58030).
 */
const AWAY = /^(08...|25006|25P03|25P04|53...|55P03|57P..|58030)$/;
/** Codes of Node's errors for a socket that could not be opened, or that broke. */
const SOCKET = /^(ECONN|EHOST|ENET|EAI_|EPIPE|ETIMEDOUT|ENOTFOUND)/;
/** The driver's errors have no codes, only messages. */
const DRIVER = /connection terminated|connection error|timeout|was closed|after calling end/i;

/** Whether the database is away, as opposed to refusing a statement. */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof Refusal) return false;
  const code = 'code' in error ? String(error.code ?? '') : '';
  return code === '' ? DRIVER.test(error.message) : AWAY.test(code) || SOCKET.test(code);
}

/** SQLSTATEs after which the server closes the connection. */
const HANGS_UP = /^(08...|25P03|25P04|57P..)$/;

/** Whether the server responded and keeps the connection open. The failed transaction is then rolled back, or can be. */
export function leavesConnection(error: unknown): boolean {
  return error instanceof pg.DatabaseError ? !HANGS_UP.test(error.code ?? '') : !isOutage(error);
}

/** Whether the server ended our session during a transaction, because of its time-outs. The transaction is then rolled back. */
export function wasEnded(error: unknown): boolean {
  return error instanceof pg.DatabaseError && /^25P0[34]$/.test(error.code ?? '');
}

/** Whether the failed transaction is certainly rolled back, as opposed to unknown. */
export function isRolledBack(error: unknown): boolean {
  return error instanceof DatabaseAway ? !error.in_doubt : error instanceof pg.DatabaseError;
}

/**
 * The database is away. The caller gets 503 and may retry. The error states nothing about money, because only the database records what a
 * payment has bought. `in_doubt`: the commit was sent and its response was lost, so the transaction may or may not have committed.
 */
export class DatabaseAway extends Refusal {
  readonly in_doubt: boolean;
  /** True if the transaction was rolled back only because this process or another one stalled. It may be tried again at once. */
  readonly passing: boolean;

  constructor(cause: unknown, { in_doubt = false, detail }: { in_doubt?: boolean; detail?: string } = {}) {
    super('unavailable', { cause, ...(detail !== undefined && { detail }) });
    this.in_doubt = in_doubt;
    this.passing = wasEnded(cause) || (cause instanceof pg.DatabaseError && cause.code === '55P03');
  }
}
