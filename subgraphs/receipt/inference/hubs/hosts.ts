import { type HubSettings, ROUTER } from '../catalogue.ts';
import type { RouterSettings } from './router.ts';

/** Hosts of the hubs that answer calls (`URL.host`). */
export interface HubHosts {
  /** Host of a hub by the hub's name in receipts. Null for any other name. */
  hostOfHub(name: string): string | null;
  isHubHost(host: string): boolean;
}

export function openHubHosts(
  hubs: readonly Pick<HubSettings, 'name' | 'base_url'>[],
  router: Pick<RouterSettings, 'base_url'> | null,
): HubHosts {
  const known = [...hubs, ...(router ? [{ name: ROUTER, base_url: router.base_url }] : [])];
  const hosts = new Map(known.map(({ name, base_url }) => [name, new URL(base_url).host]));
  const every = new Set(hosts.values());
  return { hostOfHub: name => hosts.get(name) ?? null, isHubHost: host => every.has(host) };
}
