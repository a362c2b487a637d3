import { Agent, request } from 'undici';
import { z } from 'zod';
import { limits } from '../../../../schema/limits.ts';
import type { Clock } from '../../../clock.ts';
import { ROUTER_PREFIX } from '../catalogue.ts';
import { readBounded, readJsonAs } from './ask.ts';

/** A third party that answers under the caller's own key: this service neither pays it nor resells it. */
export interface RouterSettings {
  /** URL up to and including the version. */
  readonly base_url: string;
  /** Ids without the prefix, which are listed until the router has published its own. */
  readonly models: readonly string[];
}

export interface RouterListing {
  /** Ids of models with the router's prefix. */
  readonly ids: readonly string[];
  /** Whether the router has other models, which are not listed. */
  readonly more: boolean;
}

const Listed = z.object({ data: z.array(z.unknown()) });
/** Id of a model. Callers see it unchanged and send it back in requests, so it must be short and printable. */
const Id = z
  .string()
  .regex(/^[!-~]+$/)
  .max(limits.model_id_chars_max - ROUTER_PREFIX.length);

/**
 * List of the models that the router publishes without a key. It is fetched when it is first needed. While a newer list is fetched, or if
 * that fails, the old list is used. Only callers before the end of the first fetch wait, and only briefly. Never fails.
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

  /** The models that are listed. Of a list longer than `router_models_max`, only the first models are, and `more` is true. */
  async listed(): Promise<RouterListing> {
    await this.#ready();
    const known = [...(this.#published ?? this.#settings.models)];
    const listed = known.slice(0, limits.router_models_max);
    return { ids: listed.map(id => ROUTER_PREFIX + id), more: known.length > listed.length };
  }

  /** Whether the router is known to have a model, listed or not. `id` is the model's id at the router. */
  async tells(id: string): Promise<boolean> {
    await this.#ready();
    return new Set(this.#published ?? this.#settings.models).has(id);
  }

  /**
   * Whether the router may have a model. `id` is the model's id at the router. False only if models are published or configured and this
   * one is not among them.
   */
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

  /** Starts a fetch, unless one is running or the pause after the last one is not over. There is a pause after a failure too. */
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

  /** Ids of the models that the router publishes. Null if it publishes none without a key, or the response is not a list. */
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

/** Ids of the models in a list. An invalid id is left out; the rest of the list is still read. */
function idsIn(data: readonly unknown[]): ReadonlySet<string> {
  return new Set(data.flatMap(model => z.object({ id: Id }).safeParse(model).data?.id ?? []));
}

async function withinTime(done: Promise<void>, ms: number): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  await Promise.race([done, late]);
  clearTimeout(timer);
}
