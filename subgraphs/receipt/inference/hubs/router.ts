import { Agent, request } from 'undici';
import { z } from 'zod';
import { limits } from '../../../../schema/limits.ts';
import type { Clock } from '../../../clock.ts';
import { ROUTER_PREFIX } from '../catalogue.ts';
import { readBounded, readJsonAs } from './ask.ts';

/** A third party that answers under the caller's own key: this service neither pays it nor resells it. */
export interface RouterSettings {
  /** Up to and including the version. */
  readonly base_url: string;
  /** Ids that are listed while the router has published none; without the prefix. */
  readonly models: readonly string[];
}

export interface RouterListing {
  /** With the prefix. */
  readonly ids: readonly string[];
  /** Whether it has others, which are not listed. */
  readonly more: boolean;
}

const Listed = z.object({ data: z.array(z.unknown()) });
/** Ids are sent back to us in requests, and shown as they are. */
const Id = z
  .string()
  .regex(/^[!-~]+$/)
  .max(limits.model_id_chars_max - ROUTER_PREFIX.length);

/**
 * Models that the router publishes without a key. An old list is returned while the next one is fetched, and if a fetch
 * fails the old one stays. Never fails, and only callers before the end of the first fetch wait, briefly. Nothing is
 * fetched until the list is needed.
 */
export class RouterModels {
  readonly #settings: RouterSettings;
  readonly #clock: Clock;
  readonly #agent = new Agent({ connections: 1, connect: { timeout: limits.hub_connect_ms_max } });
  /** Models that the router has published. Null if it has published none. */
  #published: ReadonlySet<string> | null = null;
  #fetched = false;
  #next_fetch_at_ms = Number.NEGATIVE_INFINITY;
  #fetching: Promise<void> | null = null;

  constructor(settings: RouterSettings, clock: Clock) {
    this.#settings = settings;
    this.#clock = clock;
  }

  /** The models that are listed; of a longer list of the router's the first, and `more`. */
  async listed(): Promise<RouterListing> {
    await this.#ready();
    const known = [...(this.#published ?? this.#settings.models)];
    const listed = known.slice(0, limits.router_models_max);
    return { ids: listed.map(id => ROUTER_PREFIX + id), more: known.length > listed.length };
  }

  /** Whether it is known to have that model, by its id there, listed or not. */
  async tells(id: string): Promise<boolean> {
    await this.#ready();
    return new Set(this.#published ?? this.#settings.models).has(id);
  }

  /** Whether it may have that model, by its id there: false if its models are published or configured, and do not include this one. */
  async mayHave(id: string): Promise<boolean> {
    await this.#ready();
    const known = this.#published?.size ? this.#published : new Set(this.#settings.models);
    return known.size === 0 || known.has(id);
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }

  async #ready(): Promise<void> {
    this.#refresh();
    if (!this.#fetched && this.#fetching) await withinTime(this.#fetching, limits.router_models_wait_ms_max);
  }

  /** One fetch at a time, and the next only after a pause, whatever its result. */
  #refresh(): void {
    if (this.#fetching || this.#clock.now_ms() < this.#next_fetch_at_ms) return;
    this.#fetching = this.#fetch()
      .catch(() => null)
      .then(ids => {
        this.#published = ids ?? this.#published;
        this.#fetched = true;
        const wait_ms = ids ? limits.router_models_fresh_ms : limits.router_models_retry_ms;
        this.#next_fetch_at_ms = this.#clock.now_ms() + wait_ms;
        this.#fetching = null;
      });
  }

  /** Null if it publishes no list without a key, or something else. */
  async #fetch(): Promise<ReadonlySet<string> | null> {
    const { statusCode, body } = await request(`${this.#settings.base_url}/models`, {
      dispatcher: this.#agent,
      headers: { accept: 'application/json' },
      signal: AbortSignal.timeout(limits.router_models_fetch_ms_max),
    });
    body.on('error', () => {});
    const bytes = statusCode === 200 ? await readBounded(body, limits.router_models_bytes_max) : null;
    if (bytes === null) {
      body.destroy();
      return null;
    }
    const listed = readJsonAs(Listed, bytes);
    return listed && idsIn(listed.data);
  }
}

/** An id that is not valid is left out alone; the rest of the list is still read. */
function idsIn(data: readonly unknown[]): ReadonlySet<string> {
  return new Set(data.flatMap(model => z.object({ id: Id }).safeParse(model).data?.id ?? []));
}

async function withinTime(done: Promise<void>, ms: number): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  await Promise.race([done, late]);
  clearTimeout(timer);
}
