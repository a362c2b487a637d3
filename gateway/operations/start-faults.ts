import { once } from 'node:events';
import { createServer } from 'node:net';
import { UnknownSchema } from '../../subgraphs/migrate.ts';
import { ConfigFault, type VariableFault } from '../config/fault.ts';
import type { Settings } from '../config/read-config.ts';
import { tenantsOf } from './tenancy.ts';

/* Why a start has failed, in the operator's words: the port or the database cannot be had. */

type Place = Pick<Settings, 'host' | 'port' | 'data_dir' | 'base_url'>;

/** @throws ConfigFault where nobody could listen there now: it is said before anything else is started. */
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

/** Why nobody can listen there, in the operator's words; an error that is no such thing comes back as it is. */
export async function listenFault(error: unknown, place: Place): Promise<unknown> {
  const code = (error as NodeJS.ErrnoException)?.code ?? '';
  const fault = Object.hasOwn(faults, code) ? await faults[code]?.(place) : undefined;
  return fault ? new ConfigFault([fault], { cause: error }) : error;
}

const noSuchHost = ({ host }: Place): VariableFault => ({
  variable: 'HOST',
  problem: `${host} is no address of this machine; 127.0.0.1 serves this machine alone, 0.0.0.0 all that reach it`,
});

const faults: Readonly<Record<string, (place: Place) => VariableFault | Promise<VariableFault>>> = {
  EADDRINUSE: portTaken,
  EACCES: ({ port }) => ({
    variable: 'PORT',
    problem: `this user may not listen on ${port}; set PORT to one from 1024 on`,
  }),
  EADDRNOTAVAIL: noSuchHost,
  ENOTFOUND: noSuchHost,
  EAI_AGAIN: noSuchHost,
};

async function portTaken({ host, port, data_dir, base_url }: Place): Promise<VariableFault> {
  const neighbours = await tenantsOf(data_dir);
  const first = neighbours.find(({ pid, url }) => url === base_url && pid !== process.pid);
  const problem = first
    ? `${port} is taken by the gateway of this DATA_DIR, process ${first.pid}: use it at ${first.url}, or set PORT to another to start one beside it`
    : `${port} is taken on ${host}; stop what listens there, or set PORT to another`;
  return { variable: 'PORT', problem };
}

/** By SQLSTATE, or by Node's word for a socket that could not be had. */
const problems: Readonly<Record<string, string>> = {
  '28P01': 'refuses the password; give the right one',
  '28000': 'refuses the user; name one that may log in',
  '3D000': 'has no database of that name; create it, or name another',
  '42501': 'does not let the user make tables and schemas; grant it that, or name the owner',
  '25006': 'is read-only; name the primary',
  '53300': 'has no connection left; raise max_connections, or name a pooler',
  ECONNREFUSED: 'is not there: nothing listens on that port; start Postgres, or name another',
  ENOTFOUND: 'is not known by that name; check the host',
  EAI_AGAIN: 'is not known by that name just now; check the host, and the resolver',
  ECONNRESET: 'hung up; check that it is Postgres, and sslmode',
};
const UNKNOWN = 'does not answer; check that it runs, and that this machine reaches it';
const TLS = 'does not speak TLS as sslmode asks for, or shows no certificate that is trusted here; check sslmode';

/** SQLSTATEs and errors that say how we came to the server, as against what we asked of it. */
const ABOUT_THE_WAY = /^(08...|28...|3D000|42501|25006|53...|57P..|E[A-Z_]+)$/;
const ABOUT_TLS = /ssl|certificate|self.signed/i;
const ABOUT_TIME = /timeout|connection terminated/i;

/** Why the database of that URL cannot be used, as its operator reads it; an error that is no such thing comes back as it is. */
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

/** Libraries wrap what the driver said, and Node what each of a host's addresses did. */
function deepest(error: unknown): { readonly code: string; readonly message: string } | null {
  if (!(error instanceof Error)) return null;
  const inner = error instanceof AggregateError ? error.errors[0] : error.cause;
  const code = 'code' in error ? String(error.code ?? '') : '';
  return (code === '' ? deepest(inner) : null) ?? { code, message: error.message };
}

/** Host and port: user, password and parameters stay where they are. */
function placeOf(url: string): string {
  const { hostname, port, searchParams } = new URL(url);
  const host = searchParams.get('host') ?? decodeURIComponent(hostname);
  return `${host === '' ? 'localhost' : host}:${port === '' ? '5432' : port}`;
}
