import { type HubSettings, ROUTER } from '../catalogue.ts';
import type { RouterSettings } from './router.ts';

/** Under which host whoever answers calls is reached (`URL.host`), by the name that receipts give it; null for any other name. */
export function openHubHosts(
  hubs: readonly Pick<HubSettings, 'name' | 'base_url'>[],
  router: Pick<RouterSettings, 'base_url'> | null,
): (name: string) => string | null {
  const known = [...hubs, ...(router ? [{ name: ROUTER, base_url: router.base_url }] : [])];
  const hosts = new Map(known.map(({ name, base_url }) => [name, new URL(base_url).host]));
  return name => hosts.get(name) ?? null;
}
