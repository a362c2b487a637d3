import { once } from 'node:events';
import { createServer } from 'node:net';
import { UnknownSchema } from '../../subgraphs/migrate.ts';
import { ConfigFault, type VariableFault } from '../config/fault.ts';
import type { Settings } from '../config/read-config.ts';
import { tenantsOf } from './tenancy.ts';

/* Reasons for a failed start that an operator can fix: the port or the database is not available. */

type Place = Pick<Settings, 'host' | 'port' | 'data_dir' | 'base_url'>;

/** Checks that the port is available, before anything else is started. @throws ConfigFault if it is not */
export async function requirePort(place: Place): Promise<void> {
  const server = createServer();
  try {
    await once(server.listen({ host: place.host, port: place.port, exclusive: true }), 'listening');
  } catch (error) {
    throw await listenFault(error, place);
  }
  server.close();
  await once(server, 'close');
}

/** Turns the error of a failed listen into a ConfigFault; returns any other error unchanged. */
export async function listenFault(error: unknown, place: Place): Promise<unknown> {
  const code = (error as NodeJS.ErrnoException)?.code ?? '';
  const fault = Object.hasOwn(faults, code) ? await faults[code]?.(place) : undefined;
  return fault ? new ConfigFault([fault], { cause: error }) : error;
}

const noSuchHost = ({ host }: Place): VariableFault => ({
  variable: 'HOST',
  problem: `${host} is not an address of this machine; use 127.0.0.1 for this machine only, or 0.0.0.0 for all networks`,
});

const faults: Readonly<Record<string, (place: Place) => VariableFault | Promise<VariableFault>>> = {
  EADDRINUSE: portTaken,
  EACCES: ({ port }) => ({
    variable: 'PORT',
    problem: `this user may not listen on ${port}; set PORT to 1024 or higher`,
  }),
  EADDRNOTAVAIL: noSuchHost,
  ENOTFOUND: noSuchHost,
  EAI_AGAIN: noSuchHost,
};

async function portTaken({ host, port, data_dir, base_url }: Place): Promise<VariableFault> {
  const neighbours = await tenantsOf(data_dir);
  const first = neighbours.find(({ pid, url }) => url === base_url && pid !== process.pid);
  const problem = first
    ? `${port} is in use by the gateway of this DATA_DIR, process ${first.pid}; use that one at ${first.url}, or set PORT to another port to start a second one`
    : `${port} is in use on ${host}; stop the process that listens there, or set PORT to another port`;
  return { variable: 'PORT', problem };
}

/** Problems of a database by SQLSTATE or by Node's error code. */
const problems: Readonly<Record<string, string>> = {
  '28P01': 'rejects the password; correct it',
  '28000': 'rejects the user; use one that may log in',
  '3D000': 'has no database of that name; create it, or use another',
  '42501': 'does not let the user create tables and schemas; grant CREATE, or use the owner',
  '25006': 'is read-only; use the primary',
  '53300': 'has no free connection; raise max_connections, or use a pooler',
  ECONNREFUSED: 'does not accept connections: nothing listens on that port; start Postgres, or correct the port',
  ENOTFOUND: 'has an unknown host name; check it',
  EAI_AGAIN: 'has a host name that cannot be resolved now; check it and the resolver',
  ECONNRESET: 'closed the connection; check that it is Postgres, and sslmode',
};
const UNKNOWN = 'does not answer; check that it runs and is reachable from this machine';
const TLS = 'does not offer TLS as sslmode requires, or its certificate is not trusted here; check sslmode';

/** SQLSTATEs and error codes that concern the connection and not a query. */
const ABOUT_THE_WAY = /^(08...|28...|3D000|42501|25006|53...|57P..|E[A-Z_]+)$/;
const ABOUT_TLS = /ssl|certificate|self.signed/i;
const ABOUT_TIME = /timeout|connection terminated/i;

/** Turns an error of the database into a ConfigFault; returns any other error unchanged. */
export function databaseFault(error: unknown, url: string): unknown {
  if (error instanceof UnknownSchema) return faultOf(`the database at ${placeOf(url)} ${error.message}`, error);
  const cause = deepest(error);
  if (cause === null) return error;
  const { code, message } = cause;
  const tls = ABOUT_TLS.test(message) || ABOUT_TLS.test(code);
  if (!tls && !ABOUT_THE_WAY.test(code) && !ABOUT_TIME.test(message)) return error;
  const problem = tls ? TLS : (problems[code] ?? (code === '' ? UNKNOWN : `${UNKNOWN} (${code})`));
  return faultOf(`the server at ${placeOf(url)} ${problem}`, error);
}

function faultOf(problem: string, cause: unknown): ConfigFault {
  return new ConfigFault([{ variable: 'DATABASE_URL', problem }], { cause });
}

/**
 * The first error with a code, from the outermost inwards, or the innermost error if none has one. Libraries wrap the driver's error, and
 * Node wraps the errors of a host's addresses in an AggregateError.
 */
function deepest(error: unknown): { readonly code: string; readonly message: string } | null {
  if (!(error instanceof Error)) return null;
  const inner = error instanceof AggregateError ? error.errors[0] : error.cause;
  const code = 'code' in error ? String(error.code ?? '') : '';
  return (code === '' ? deepest(inner) : null) ?? { code, message: error.message };
}

/** Host and port of a database URL, without user, password and parameters. */
function placeOf(url: string): string {
  const { hostname, port, searchParams } = new URL(url);
  const host = searchParams.get('host') ?? decodeURIComponent(hostname);
  return `${host === '' ? 'localhost' : host}:${port === '' ? '5432' : port}`;
}
