import pg from 'pg';
import { DatabaseAway, isOutage, leavesConnection, wasEnded } from './outage.ts';

/** A statement of a transaction. */
export interface Statement extends pg.QueryConfig {
  /**
   * True if the statement changes nothing: it reads, or takes locks. Then it may be sent in the same turn as the statements before it, when it
   * is not known yet that the transaction has begun. Others wait until it has.
   */
  readonly changes_nothing?: true;
}

/** An open transaction on a raw connection. While it is open, nothing outside the database is awaited. */
export interface Tx {
  query<R extends pg.QueryResultRow>(statement: string | Statement): Promise<pg.QueryResult<R>>;
  /**
   * Sends a statement whose result is not needed, without waiting for it. If it fails, the transaction fails with its error. Later
   * statements and the commit are sent after it, so locks are held for one round trip instead of one per statement.
   */
  write(statement: pg.QueryConfig): void;
}

/** Makes a transaction readable like a database, so that reads do not wait for a second connection while the transaction holds a lock. */
export function readsOf(tx: Tx) {
  return {
    query: async <R extends pg.QueryResultRow>(statement: pg.QueryConfig) => (await tx.query<R>(statement)).rows,
  };
}

interface TransactionStart {
  /** Statements that begin the transaction, with one command each. */
  readonly begin: readonly string[];
  /** Maximum duration of each statement in milliseconds. Default: the limit of the pool. */
  readonly statement_ms_max?: number | undefined;
}

/** Runs `work` in a transaction on a connection of the pool: see `Database.transaction`. */
export async function transaction<T>(pool: pg.Pool, by: TransactionStart, work: (tx: Tx) => Promise<T>): Promise<T> {
  try {
    return await attempt(pool, by, work);
  } catch (error) {
    if (error instanceof DatabaseAway && error.passing) return attempt(pool, by, work);
    throw error;
  }
}

/** SQLSTATE invalid_sql_statement_name: there is no prepared statement with that name. */
const isUnprepared = (failure: Error | null): failure is pg.DatabaseError =>
  failure instanceof pg.DatabaseError && failure.code === '26000';

async function attempt<T>(
  pool: pg.Pool,
  { begin, statement_ms_max }: TransactionStart,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  const client = await pool.connect().catch(error => {
    throw isOutage(error) ? new DatabaseAway(error) : error;
  });
  let broken: Error | undefined;
  // Without this listener, a connection that breaks while it is in use would end the process, because the pool listens to idle connections
  // only.
  const onBroken = (fault: Error) => {
    broken ??= fault;
  };
  client.on('error', onBroken);
  const statements = new Statements(client, begin, statement_ms_max);
  let in_doubt = false;
  try {
    if (!isPrepared(client, begin)) await statements.begin();
    const result = await work(statements);
    await statements.end();
    if (!statements.begun) return result;
    in_doubt = true;
    await commit(client, statements);
    statements.requireSound();
    return result;
  } catch (caught) {
    statements.ended = true;
    const error = statements.causeOf(caught);
    // If a statement failed before the server received it, driver and server disagree about the state of the session, so it is not used
    // again.
    if (statements.failure && !(statements.failure instanceof pg.DatabaseError)) onBroken(statements.failure);
    // The connection has lost what the driver takes for prepared, and would fail again.
    if (isUnprepared(statements.failure)) onBroken(statements.failure);
    const answered = leavesConnection(error);
    if (!answered) onBroken(error as Error);
    else if (statements.begun) await client.query('rollback').catch(onBroken);
    if (!isOutage(error)) throw error;
    // The server may have ended the session between two statements. The next error then only says that the connection is gone.
    const cause = wasEnded(broken) ? broken : error;
    throw new DatabaseAway(cause, { in_doubt: in_doubt && !answered && !wasEnded(cause) });
  } finally {
    client.off('error', onBroken);
    client.release(broken);
  }
}

/** The statements that begin transactions and that each connection has prepared. */
const prepared = new WeakMap<pg.PoolClient, ReadonlySet<string>>();

function isPrepared(client: pg.PoolClient, begin: readonly string[]): boolean {
  const known = prepared.get(client);
  return known !== undefined && begin.every(text => known.has(text));
}

/** The part of the driver's query that sends its messages and receives their answers. */
interface DriverQuery {
  prepare(connection: DriverConnection): void;
  handleCommandComplete(message: unknown, connection: DriverConnection): void;
}

interface DriverConnection {
  bind(message: { readonly statement: string }): void;
  execute(message: object): void;
}

interface BoundedConfig extends pg.QueryConfig {
  readonly query_timeout?: number;
}

type Answered<R> = (fault: Error | null, result: R) => void;

const ExtendedQuery = pg.Query as unknown as new (
  config: pg.QueryConfig & { readonly queryMode: 'extended' },
  callback: Answered<never>,
) => DriverQuery;

/**
 * The first statement of a transaction, sent together with those that begin it, before one Sync message: the server skips it if one of them
 * fails. Sent with a Sync of its own it would be committed by itself then.
 */
class BeginningQuery extends ExtendedQuery {
  /** Read by the driver. */
  readonly query_timeout: number | undefined;
  readonly #begin: readonly string[];
  readonly #onBegun: () => void;
  #unanswered: number;

  constructor(begin: readonly string[], onBegun: () => void, config: BoundedConfig, answered: Answered<never>) {
    super({ ...config, queryMode: 'extended' }, answered);
    this.query_timeout = config.query_timeout;
    this.#begin = begin;
    this.#onBegun = onBegun;
    this.#unanswered = begin.length;
  }

  override prepare(connection: DriverConnection): void {
    for (const statement of this.#begin) {
      connection.bind({ statement });
      connection.execute({});
    }
    super.prepare(connection);
  }

  override handleCommandComplete(message: unknown, connection: DriverConnection): void {
    if (this.#unanswered === 0) super.handleCommandComplete(message, connection);
    else if (--this.#unanswered === 0) this.#onBegun();
  }
}

/** Statements of one transaction. The first error is the error of the transaction, whichever result is read. */
class Statements implements Tx {
  failure: Error | null = null;
  /** Whether the transaction is over, or is about to be. What is sent afterwards would be committed by itself. */
  ended = false;
  /** Whether the statements that begin the transaction were sent. */
  begun = false;
  /** Whether the server has answered that the transaction has begun. */
  #confirmed = false;
  /** Statements that wait for that answer, in order. */
  #waiting: (() => void)[] = [];
  readonly #client: pg.PoolClient;
  readonly #begin: readonly string[];
  /** Limit of each statement, under the name that the driver uses. */
  readonly #bound: { readonly query_timeout: number } | null;

  constructor(client: pg.PoolClient, begin: readonly string[], statement_ms_max?: number) {
    this.#client = client;
    this.#begin = begin;
    this.#bound = statement_ms_max === undefined ? null : { query_timeout: statement_ms_max };
  }

  /** Begins before the first statement is sent, and prepares the connection to begin together with it. */
  async begin(): Promise<void> {
    this.begun = true;
    for (const text of this.#begin) await this.#client.query({ name: text, text });
    this.#confirmed = true;
    prepared.set(this.#client, new Set([...(prepared.get(this.#client) ?? []), ...this.#begin]));
  }

  /** Resolves when all statements are sent, so that the commit can follow. @throws the first error that is known by then */
  async end(): Promise<void> {
    if (this.begun && !this.#confirmed && this.failure === null)
      await new Promise<void>(resolve => this.#waiting.push(resolve));
    this.ended = true;
    this.requireSound();
  }

  query<R extends pg.QueryResultRow>(statement: string | Statement): Promise<pg.QueryResult<R>> {
    return new Promise((resolve, reject) => {
      this.#send<R>(statement, (fault, result) => (fault ? reject(fault) : resolve(result)));
    });
  }

  write(statement: pg.QueryConfig): void {
    this.#send(statement, () => {});
  }

  /** Throws the first error. The server does not know a statement that failed before it was sent, and would commit without it. */
  requireSound(): void {
    if (this.failure) throw this.failure;
  }

  /**
   * The first error, if `caught` is an error of the database: statements after a failed one only report that the transaction has failed. An
   * error that `work` itself threw is returned unchanged.
   */
  causeOf(caught: unknown): unknown {
    return this.failure && (caught instanceof pg.DatabaseError || isOutage(caught)) ? this.failure : caught;
  }

  /** Uses a callback, because that runs before any code that awaits a promise. */
  #send<R extends pg.QueryResultRow>(statement: string | Statement, answered: Answered<pg.QueryResult<R>>): void {
    const asked: Statement = typeof statement === 'string' ? { text: statement } : statement;
    const config: BoundedConfig = this.#bound === null ? asked : { ...asked, ...this.#bound };
    const onAnswer: Answered<pg.QueryResult<R>> = (fault, result) => {
      if (fault) this.#fail(fault);
      answered(fault, result);
    };
    if (!this.begun) {
      this.begun = true;
      const first = new BeginningQuery(this.#begin, () => this.#confirm(), config, onAnswer);
      this.#client.query(first as unknown as pg.Submittable);
    } else if (this.#confirmed || (asked.changes_nothing && this.#waiting.length === 0))
      this.#sendNow(config, onAnswer);
    else this.#waiting.push(() => this.#sendNow(config, onAnswer));
  }

  #sendNow<R extends pg.QueryResultRow>(config: BoundedConfig, onAnswer: Answered<pg.QueryResult<R>>): void {
    const fault = this.failure ?? (this.ended ? new Error('a statement was to be sent after its transaction') : null);
    if (fault === null) this.#client.query<R>(config, onAnswer);
    // Not before its sender has gone on, as with an answer.
    else queueMicrotask(() => onAnswer(fault, undefined as never));
  }

  #confirm(): void {
    this.#confirmed = true;
    this.#sendWaiting();
  }

  #fail(fault: Error): void {
    this.failure ??= fault;
    this.#sendWaiting();
  }

  #sendWaiting(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const send of waiting) send();
  }
}

/** Postgres responds to the commit of a failed transaction by rolling it back, without an error. */
async function commit(client: pg.PoolClient, statements: Statements): Promise<void> {
  const { command } = await client.query('commit');
  if (command !== 'COMMIT') throw statements.failure ?? new Error('a transaction that had failed was to be committed');
}
