import { z } from 'zod';
import { isJsonObject, type JsonObject } from '../../../../schema/canonical-json.ts';
import { mendedJson } from '../../../../schema/json-value.ts';
import { limits } from '../../../../schema/limits.ts';
import {
  addDetail,
  type Reasoning,
  type ReasoningSource,
  reasoningOf,
  reasoningSource,
  reasoningTextIn,
} from '../../../../schema/reasoning.ts';
import type { ReasoningPiece } from '../../../piece.ts';
import { SplitText } from './split-text.ts';

const DETAIL_BOUNDS = {
  depth_max: limits.reasoning_details_depth_max,
  members_max: limits.reasoning_details_members_max,
} as const;

/**
 * Reasoning as hubs send it, in a message or in a delta. Reasoning is not part of the answer: a member of another shape, or beyond its
 * bounds, is left out as if the hub had not sent it, and the answer remains valid.
 */
export const reasoningMembers = {
  reasoning_content: z.string().nullish().catch(null),
  reasoning: z.string().nullish().catch(null),
  reasoning_details: z
    .array(z.custom<JsonObject>(isJsonObject))
    .max(limits.reasoning_details_max)
    .transform(details => mendedJson(details, DETAIL_BOUNDS))
    .nullish()
    .catch(null),
} as const;

export type HubReasoning = {
  readonly reasoning_content?: string | null | undefined;
  readonly reasoning?: string | null | undefined;
  readonly reasoning_details?: readonly JsonObject[] | null | undefined;
};

/** Reasoning of a whole message. */
export function wholeReasoning({ reasoning_content, reasoning, reasoning_details }: HubReasoning): Reasoning {
  return reasoningOf({
    reasoning_content: (reasoning_content ?? '').toWellFormed(),
    reasoning: (reasoning ?? '').toWellFormed(),
    reasoning_details: reasoning_details ?? [],
  });
}

export function bytesOfReasoning({ reasoning_content, reasoning, reasoning_details }: HubReasoning): number {
  const texts = Buffer.byteLength(reasoning_content ?? '') + Buffer.byteLength(reasoning ?? '');
  return texts + (reasoning_details?.length ? Buffer.byteLength(JSON.stringify(reasoning_details)) : 0);
}

/** Collects reasoning while it streams, and returns what each delta adds. */
export class StreamedReasoning {
  readonly #content = new SplitText();
  readonly #reasoning = new SplitText();
  readonly #details: JsonObject[] = [];
  /**
   * Member from which the text is read: the first one that had text, because hubs repeat the text in several members, not always in the
   * same delta.
   */
  #source: ReasoningSource | null = null;
  #text = '';

  /** Adds a delta, and returns the part of it that is passed on. Null if it adds nothing. */
  take({ reasoning_content, reasoning, reasoning_details }: HubReasoning): ReasoningPiece | null {
    const added = reasoningOf({
      reasoning_content: this.#content.take(reasoning_content ?? ''),
      reasoning: this.#reasoning.take(reasoning ?? ''),
      reasoning_details: (reasoning_details ?? []).filter(detail => this.#added(detail)),
    });
    if (Object.keys(added).length === 0) return null;
    this.#source ??= reasoningSource(added);
    const text = this.#source === null ? '' : reasoningTextIn(added, this.#source);
    this.#text += text;
    return { reasoning: added, text };
  }

  get whole(): Reasoning {
    return reasoningOf({
      reasoning_content: this.#content.whole,
      reasoning: this.#reasoning.whole,
      reasoning_details: this.#details,
    });
  }

  /** Text of the reasoning, without the repetitions in other members. */
  get text(): string {
    return this.#text;
  }

  /** Adds a detail, unless there are as many as allowed. Returns whether it was added. */
  #added(detail: JsonObject): boolean {
    addDetail(this.#details, detail);
    if (this.#details.length <= limits.reasoning_details_max) return true;
    this.#details.pop();
    return false;
  }
}
