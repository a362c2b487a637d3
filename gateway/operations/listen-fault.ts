import { once } from 'node:events';
import { createServer } from 'node:net';
import { ConfigFault, type VariableFault } from '../config/fault.ts';
import type { Settings } from '../config/read-config.ts';
import { tenantsOf } from './tenancy.ts';

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
