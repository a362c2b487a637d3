import type { HubAnswer, HubChat } from './answer.ts';

/** What a router tells of a generation at `GET /generation?id=`, as OpenRouter does; dollars are a JSON number there. */
export interface Generation {
  readonly id: string;
  readonly model: string;
  readonly streamed: boolean;
  /** ISO 8601. */
  readonly created_at: string;
  readonly total_cost: number;
  readonly usage: number;
  readonly tokens_prompt: number;
  readonly tokens_completion: number;
  readonly provider_name: string;
}

const KEPT_MAX = 1_000;
const DOLLARS_PER_TOKEN = 0.000_001_5;

/** The newest answers of a development router, each told to the key that it was given to. */
export class Generations {
  readonly #kept = new Map<string, { readonly authorization: string; readonly generation: Generation }>();

  keep(authorization: string, { model, stream }: HubChat, { id, usage }: HubAnswer): void {
    const cost = usage.total_tokens * DOLLARS_PER_TOKEN;
    const generation = {
      id,
      model,
      streamed: stream,
      created_at: new Date().toISOString(),
      total_cost: cost,
      usage: cost,
      tokens_prompt: usage.prompt_tokens,
      tokens_completion: usage.completion_tokens,
      provider_name: 'development',
    };
    this.#kept.delete(id);
    this.#kept.set(id, { authorization, generation });
    if (this.#kept.size > KEPT_MAX) this.#kept.delete(this.#kept.keys().next().value ?? id);
  }

  of(authorization: string, id: string): Generation | null {
    const kept = this.#kept.get(id);
    return kept?.authorization === authorization ? kept.generation : null;
  }
}

/** The id that is asked for; null where something else is. */
export function generationAt(path: string): string | null {
  const { pathname, searchParams } = new URL(path, 'http://router');
  return pathname === '/v1/generation' ? searchParams.get('id') : null;
}
