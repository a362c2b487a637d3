import { lookup, Resolver } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { isPublicAddress } from '../../schema/webhook/public-address.ts';
import type { WebhookReach } from '../../schema/webhook/url.ts';

/** All addresses of a name. */
export type Resolve = (host: string) => Promise<readonly string[]>;

/** Of this machine, as its hosts file has it too; only where a webhook may lead there. */
export const systemResolve: Resolve = async host => (await lookup(host, { all: true })).map(({ address }) => address);

/** For an answer, and of how often it is asked for: together well within one attempt. */
const ANSWER_MS = 2_000;
const TRIES = 2;

/**
 * By questions to name servers. The system's look-up takes one of a few threads for each name, which all that the process
 * connects to shares: two names whose servers are silent would hold up hubs, chains and the database for as long as that lasts.
 * `servers`: the system's unless given.
 */
export function openResolve(servers?: readonly string[]): Resolve {
  const resolver = new Resolver({ timeout: ANSWER_MS, tries: TRIES });
  if (servers) resolver.setServers(servers);
  return async host => {
    const found = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    // Of one family alone there may be none, or no word: what is connected to is what was found.
    return found.flatMap(answer => (answer.status === 'fulfilled' ? answer.value : []));
  };
}

/** One of a name's addresses is not public: it is not connected to any of them. */
export class AddressRefused extends Error {
  override name = 'AddressRefused';
}

/** It is not known where the name leads. */
export class NotResolved extends Error {
  override name = 'NotResolved';
}

/**
 * The look-up of one connection, by which it is judged where it goes: what is connected to is what was judged here, so that
 * a name that leads elsewhere a moment later leads nowhere.
 */
export function guardedLookup(reach: WebhookReach, resolve: Resolve): LookupFunction {
  return (host, options, callback) => {
    judged(host, reach, resolve).then(
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

async function judged(host: string, reach: WebhookReach, resolve: Resolve): Promise<readonly string[]> {
  const addresses = await resolve(host).catch(cause => {
    throw new NotResolved('', { cause });
  });
  if (addresses.length === 0) throw new NotResolved();
  if (reach === 'public' && !addresses.every(isPublicAddress)) throw new AddressRefused();
  return addresses;
}
