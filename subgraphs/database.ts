import { Socket } from 'node:net';
import pg from 'pg';
import { Refusal } from '../schema/errors.ts';
import { migrate } from './migrate.ts';
import type { MigrationClass } from './migration.ts';
import { DatabaseAway, isOutage } from './outage.ts';
import { type Tx, transaction } from './transaction.ts';

export type { Tx };

export interface Database {
  /** Runs one statement outside a transaction. It is prepared if it has a name. @throws DatabaseAway */
  query<R extends pg.QueryResultRow>(statement: pg.QueryConfig): Promise<R[]>;
  /**
   * Runs `work` in a transaction. If `work` throws, the transaction is rolled back and the error is rethrown; a broken connection is
   * discarded. `work` runs a second time if the first attempt was rolled back only because a process stalled: this one, or another that
   * held a lock. @throws DatabaseAway
   */
  transaction<T>(work: (tx: Tx) => Promise<T>, bound?: TransactionBound): Promise<T>;
  /** Opens a separate connection for LISTEN and for advisory locks. The caller ends it. */
  connect(): Promise<pg.Client>;
  /** Opens a separate pool for a library that needs one. The caller ends it. */
  openPool(connections_max: number): pg.Pool;
  /** Number of connections in the pool, of idle connections, and of callers that wait for a connection. */
  usage(): PoolUsage;
  close(): Promise<void>;
}

export interface PoolUsage {
  readonly open: number;
  readonly idle: number;
  readonly waiting: number;
}

export interface TransactionBound {
  /**
   * Maximum duration of the transaction in milliseconds, including all waits. The server ends the session of a longer transaction. Ignored
   * by servers before Postgres 17.
   */
  readonly ms_max?: number;
  /** Maximum duration of each statement in milliseconds. Default: 10,000. An operator's command over whole tables needs more. */
  readonly statement_ms_max?: number;
  /** Makes Postgres refuse writes, so that the transaction is allowed while the log is halted. */
  readonly read_only?: true;
}

/** Numeric columns hold atomic amounts (scale 0) and become bigint. int8 columns hold counts and positions and become number. */
const typeParsers = new Map<number, (text: string) => unknown>([
  [pg.types.builtins.NUMERIC, text => BigInt(text)],
  [pg.types.builtins.INT8, text => Number(text)],
]);
const types: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) =>
    (format !== 'binary' && typeParsers.get(oid)) || pg.types.getTypeParser(oid, format as 'text'),
};

/**
 * A process that stalls in a transaction (SIGSTOP, a paused machine) holds locks on heads that other processes wait for. The server ends
 * its session before the other processes give up, so they lose time but no answer. If a process does give up, its caller gets 503.
 */
const SESSION_OPTIONS = '-c lock_timeout=2s -c idle_in_transaction_session_timeout=1s -c timezone=UTC';
/** Without this limit and `QUERY_MS_MAX`, callers would wait for a server that has vanished until TCP gives up. */
const CONNECT_MS_MAX = 5_000;
/**
 * A new session costs the server some 50 ms of CPU until its caches are filled, so sessions are kept from one burst of requests to the
 * next.
 */
const IDLE_MS_MAX = 120_000;
const QUERY_MS_MAX = 10_000;
/** First server version that has transaction_timeout, in the format of server_version_num. */
const BOUNDS_TRANSACTIONS = 170_000;
/**
 * Overrides a default of the operator. If a transaction_timeout expires in the last moment before a commit, the server notices it only
 * after the commit. It then ignores the timeout only if no transaction_timeout is in force any longer. A default would be in force again by
 * then, and the server would end the session of a committed transaction.
 */
const NO_OTHER_BOUND = '-c transaction_timeout=0';

export interface DatabaseOptions {
  readonly url: string;
  readonly entities: readonly (new () => object)[];
  readonly migrations: readonly MigrationClass[];
  readonly connections_max: number;
  /** Checks the database before anything is written there. If it throws, the database is unchanged. */
  readonly before?: (client: pg.Client) => Promise<void>;
}

/** Opens the database and brings its schema up to date; several processes may do so at once. @throws UnknownSchema */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const settings: pg.ClientConfig = {
    connectionString: options.url,
    options: SESSION_OPTIONS,
    types,
    keepAlive: true,
    connectionTimeoutMillis: CONNECT_MS_MAX,
  };
  const connect = async () => {
    const client = new pg.Client(settings);
    // A lost connection would end the process if there were no error listener.
    client.on('error', () => {});
    await client.connect();
    return client;
  };
  const bounds = (await migrate(options, { connect, settings, before: options.before })) >= BOUNDS_TRANSACTIONS;
  const beginOf = ({ ms_max, read_only }: TransactionBound = {}) => {
    const begin = read_only ? 'begin read only' : 'begin';
    return ms_max && bounds ? [begin, `set local transaction_timeout = ${ms_max}`] : [begin];
  };

  const session_options = bounds ? `${SESSION_OPTIONS} ${NO_OTHER_BOUND}` : SESSION_OPTIONS;
  // `pipeline` sends statements without waiting for the results of earlier ones.
  const stream = () => new TurnSocket();
  const pooled = { ...settings, options: session_options, query_timeout: QUERY_MS_MAX, pipeline: true, stream };
  const pool = new pg.Pool({ ...pooled, max: options.connections_max, idleTimeoutMillis: IDLE_MS_MAX });
  pool.on('error', () => {});
  return {
    connect,
    openPool(max) {
      const own = new ForgivingPool({ ...settings, query_timeout: QUERY_MS_MAX, max, idleTimeoutMillis: IDLE_MS_MAX });
      own.on('error', () => {});
      // The pool itself handles errors of idle connections only.
      own.on('connect', client => void client.on('error', () => {}));
      return own;
    },
    async query<R extends pg.QueryResultRow>(statement: pg.QueryConfig) {
      try {
        return (await pool.query<R>(statement)).rows;
      } catch (error) {
        if (isOutage(error)) throw new DatabaseAway(error);
        throw isUnstorableText(error)
          ? new Refusal('invalid_request', { detail: 'Text must not contain U+0000.' })
          : error;
      }
    },
    usage: () => ({ open: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    transaction: (work, bound) =>
      transaction(pool, { begin: beginOf(bound), statement_ms_max: bound?.statement_ms_max }, work),
    close: () => pool.end(),
  };
}

/**
 * Sends all statements of one turn of the event loop in one system call. By itself, pg makes one call for each statement. That call takes
 * longer than writing most statements, and makes the server read once for each of them. Over TLS, pg writes to a TLS socket that it opens
 * itself, so each statement is still a separate TLS record.
 */
class TurnSocket extends Socket {
  override uncork(): void {
    process.nextTick(() => super.uncork());
  }
}

type Release = (error?: Error | boolean) => void;
/** If no session could be opened, pg passes neither a client nor a release function. */
type Connected = (error: Error | undefined, client?: pg.PoolClient, release?: Release) => void;

/**
 * A pool in which the second release of a session has no effect, for libraries that release twice. graphile-worker 0.18 does so in an
 * unhandled promise, if its listening session is lost while its worker stops. Without this class, pg's error would then end the process.
 */
class ForgivingPool extends pg.Pool {
  override connect(): Promise<pg.PoolClient>;
  override connect(callback: Connected): void;
  override connect(callback?: Connected): Promise<pg.PoolClient> | undefined {
    if (callback === undefined)
      return super.connect().then(client => Object.assign(client, { release: once(client.release) }));
    const connected: Connected = (error, client, release) => callback(error, client, release && once(release));
    super.connect(connected);
    return undefined;
  }
}

function once<Given extends unknown[]>(work: (...given: Given) => void): (...given: Given) => void {
  let done = false;
  return (...given) => {
    if (done) return;
    done = true;
    work(...given);
  };
}

/** SQLSTATE character_not_in_repertoire: a Postgres text cannot contain U+0000, and only a caller would send one. */
function isUnstorableText(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '22021';
}

/**
 * Inserts any number of whole rows in one statement. The names of the objects' members are the columns. Amounts are given as decimal
 * strings, bytea as `\x` hex.
 */
export function insertRows(tx: Tx, table: string, rows: readonly object[]): void {
  if (rows.length === 0) return;
  const columns = Object.keys(rows[0] as object)
    .map(name => `"${name}"`)
    .join(',');
  const text = `insert into ${table} (${columns}) select ${columns} from jsonb_populate_recordset(null::${table}, $1::jsonb)`;
  tx.write({ name: nameOf(text), text, values: [JSON.stringify(rows)] });
}

/** Writes the columns in `changed` to the row with this key. Concurrent changes of other columns are kept. */
export function updateRow(
  tx: Tx,
  table: string,
  [key, value]: readonly [column: string, value: string],
  changed: Readonly<Record<string, unknown>>,
  only_where = 'true',
): void {
  const columns = Object.keys(changed)
    .map(name => `"${name}" = said."${name}"`)
    .join(', ');
  const text = `update ${table} as stored set ${columns} from jsonb_populate_record(null::${table}, $2::jsonb) as said
    where stored."${key}" = $1 and ${only_where}`;
  tx.write({ name: nameOf(text), text, values: [value, JSON.stringify(changed)] });
}

const names = new Map<string, string>();

/**
 * Returns the same short name for each call with the same text. Postgres truncates names of prepared statements to 63 bytes, so a text
 * cannot be its own name.
 */
function nameOf(text: string): string {
  const known = names.get(text) ?? `statement ${names.size}`;
  names.set(text, known);
  return known;
}
