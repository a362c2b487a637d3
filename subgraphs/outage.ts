import pg from 'pg';
import { Refusal } from '../schema/errors.ts';

/**
 * SQLSTATEs of a server that cannot do now what it could do a moment later: no connection (08), read-only (25006), our
 * session ended as our process stood still or was too slow (25P03, 25P04), out of disk, memory or connections (53), a
 * head that is held too long (55P03), going down or coming up (57P), its disk does not answer (58030).
 */
const AWAY = /^(08...|25006|25P03|25P04|53...|55P03|57P..|58030)$/;
/** Node's own words for a socket that could not be had or broke. */
const SOCKET = /^(ECONN|EHOST|ENET|EAI_|EPIPE|ETIMEDOUT|ENOTFOUND)/;
/** The driver has no codes, only sentences. */
const DRIVER = /connection terminated|connection error|timeout|was closed|after calling end/i;

/** Whether the database is away, as opposed to refusing a statement. */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof Refusal) return false;
  const code = 'code' in error ? String(error.code ?? '') : '';
  return code === '' ? DRIVER.test(error.message) : AWAY.test(code) || SOCKET.test(code);
}

/** SQLSTATEs with which the server hangs up. */
const HANGS_UP = /^(08...|25P03|25P04|57P..)$/;

/** Whether the server itself answered and stays on the line: then what it refused was rolled back, or can be. */
export function leavesConnection(error: unknown): boolean {
  return error instanceof pg.DatabaseError ? !HANGS_UP.test(error.code ?? '') : !isOutage(error);
}

/** Whether the server ended our session in the midst of a transaction, for its own time-outs: then nothing of it stands. */
export function wasEnded(error: unknown): boolean {
  return error instanceof pg.DatabaseError && /^25P0[34]$/.test(error.code ?? '');
}

/** Whether the failed transaction is certainly rolled back, as opposed to unknown. */
export function isRolledBack(error: unknown): boolean {
  return error instanceof DatabaseAway ? !error.in_doubt : error instanceof pg.DatabaseError;
}

/**
 * The database is away: 503, retry. It says nothing about money, since only the database knows what a payment has
 * bought. `in_doubt`: the commit was sent and its response lost, so the transaction may or may not stand.
 */
export class DatabaseAway extends Refusal {
  readonly in_doubt: boolean;
  /** Nothing stands, and only a process that stood still was in the way, we or another: it may be tried again at once. */
  readonly passing: boolean;

  constructor(cause: unknown, { in_doubt = false, detail }: { in_doubt?: boolean; detail?: string } = {}) {
    super('unavailable', { cause, ...(detail !== undefined && { detail }) });
    this.in_doubt = in_doubt;
    this.passing = wasEnded(cause) || (cause instanceof pg.DatabaseError && cause.code === '55P03');
  }
}
