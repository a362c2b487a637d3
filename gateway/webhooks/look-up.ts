import { lookup, Resolver } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { isPublicAddress } from '../../schema/webhook/public-address.ts';
import type { WebhookReach } from '../../schema/webhook/url.ts';

/** Returns all addresses of a name. */
export type Resolve = (host: string) => Promise<readonly string[]>;

/** Uses the system's look-up, including its hosts file; only where webhooks may lead to this machine. */
export const systemResolve: Resolve = async host => (await lookup(host, { all: true })).map(({ address }) => address);

/** Time-out and number of attempts of a DNS query; together well below the time of one delivery attempt. */
const ANSWER_MS = 2_000;
const TRIES = 2;

/**
 * Asks name servers directly. The system's look-up occupies one of a few threads that all connections of the process share: two
 * names with silent servers would block hubs, chains and the database. `servers`: the system's unless given.
 */
export function openResolve(servers?: readonly string[]): Resolve {
  const resolver = new Resolver({ timeout: ANSWER_MS, tries: TRIES });
  if (servers) resolver.setServers(servers);
  return async host => {
    const found = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    // One address family may be missing or unanswered; the addresses that were found are used.
    return found.flatMap(answer => (answer.status === 'fulfilled' ? answer.value : []));
  };
}

/** One of a name's addresses is not public, so none of them is used. */
export class AddressRefused extends Error {
  override name = 'AddressRefused';
}

/** The name could not be resolved. */
export class NotResolved extends Error {
  override name = 'NotResolved';
}

/**
 * The look-up of one connection. The connection uses the addresses that are checked here, so a name that resolves differently a
 * moment later gains nothing.
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
