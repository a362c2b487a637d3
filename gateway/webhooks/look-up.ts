import { lookup, Resolver } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { isPublicAddress } from '../../schema/webhook/public-address.ts';
import type { WebhookReach } from '../../schema/webhook/url.ts';

/** Returns all addresses of a host name. */
export type Resolve = (host: string) => Promise<readonly string[]>;

/** Resolves by the system, including its hosts file. It is used only where webhooks may point to this machine. */
export const systemResolve: Resolve = async host => (await lookup(host, { all: true })).map(({ address }) => address);

/** Time-out of a DNS query; with TRIES attempts it is well below the time of one delivery attempt. */
const ANSWER_MS = 2_000;
const TRIES = 2;

/**
 * Resolves by queries to name servers, `servers` or else the system's. The system's own look-up is not used, because it occupies
 * one of a few threads that all connections of the process share: two names whose servers do not respond would block hubs, chains
 * and the database.
 */
export function openResolve(servers?: readonly string[]): Resolve {
  const resolver = new Resolver({ timeout: ANSWER_MS, tries: TRIES });
  if (servers) resolver.setServers(servers);
  return async host => {
    const found = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    // One address family may be missing or its query may fail. The addresses that were found are used.
    return found.flatMap(answer => (answer.status === 'fulfilled' ? answer.value : []));
  };
}

/** One of a name's addresses is not public, so none is used. */
export class AddressRefused extends Error {
  override name = 'AddressRefused';
}

/** The name could not be resolved. */
export class NotResolved extends Error {
  override name = 'NotResolved';
}

/**
 * Look-up for one connection. The connection uses the addresses that are checked here, so a name that resolves to others a moment
 * later is no risk.
 */
export function guardLookup(reach: WebhookReach, resolve: Resolve): LookupFunction {
  return (host, options, callback) => {
    resolveAllowed(host, reach, resolve).then(
      addresses => {
        const found = addresses.map(address => ({ address, family: isIP(address) }));
        const [first] = found;
        if (options.all) callback(null, found);
        else callback(null, first?.address ?? '', first?.family);
      },
      error => callback(error, ''),
    );
  };
}

async function resolveAllowed(host: string, reach: WebhookReach, resolve: Resolve): Promise<readonly string[]> {
  const addresses = await resolve(host).catch(cause => {
    throw new NotResolved('', { cause });
  });
  if (addresses.length === 0) throw new NotResolved();
  if (reach === 'public' && !addresses.every(isPublicAddress)) throw new AddressRefused();
  return addresses;
}
