import { Pool } from 'undici';
import { limits } from '../../../../schema/limits.ts';
import type { Secret } from '../../../../schema/secret.ts';
import { type Candidate, type HubSettings, ROUTER, wireModel } from '../catalogue.ts';

/** How one hub is reached: its sockets, which all callers share, and what every request to it says. */
export class HubLine {
  readonly pool: Pool;
  readonly #path: string;
  /** Null for the router, which is asked by its callers' own keys. */
  readonly #api_key: string | null;

  constructor({ base_url, api_key }: Pick<HubSettings, 'base_url'> & { readonly api_key: string | null }) {
    const { origin, pathname } = new URL(base_url);
    this.pool = new Pool(origin, {
      connections: limits.hub_connections_max,
      connect: { timeout: limits.hub_connect_ms_max },
    });
    this.#path = pathname.replace(/\/$/, '');
    this.#api_key = api_key;
  }

  /** So many wait for a socket that whoever comes next is better served elsewhere. */
  get busy(): boolean {
    return this.pool.stats.queued >= limits.hub_waiting_max;
  }

  get waiting(): number {
    return this.pool.stats.queued;
  }

  path(path: string): string {
    return this.#path + path;
  }

  /** All the headers that a hub sees beside those of HTTP itself: none of them is a caller's, but for the router's key. */
  headers(content_type: string, accept: string, router_key: Secret | undefined): Record<string, string> {
    const key = this.#api_key ?? router_key?.reveal();
    if (key === undefined) throw new Error('a router is asked with the key of whoever asks');
    return { accept, 'content-type': content_type, authorization: `Bearer ${key}` };
  }
}

/** By name; the router among them, where there is one. */
export function openLines(
  settings: readonly HubSettings[],
  router: { readonly base_url: string } | null,
): ReadonlyMap<string, HubLine> {
  const hubs = settings.map(hub => [hub.name, new HubLine(hub)] as const);
  return new Map(router ? [...hubs, [ROUTER, new HubLine({ ...router, api_key: null })]] : hubs);
}

export type Reached = { readonly line: HubLine; readonly model: string };

/** The line to a candidate, and the model by the name that it has there. */
export function reach(lines: ReadonlyMap<string, HubLine>, candidate: Candidate): Reached {
  const line = lines.get(candidate.hub);
  if (!line) throw new Error(`no hub is named ${candidate.hub}`);
  return { line, model: wireModel(candidate) };
}
