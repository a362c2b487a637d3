import { z } from 'zod';
import { CanonicalText } from '../../../../schema/canonical-json.ts';
import { Refusal } from '../../../../schema/errors.ts';
import { limits } from '../../../../schema/limits.ts';
import type { EmbeddingRequest } from '../../../../schema/requests/embedding.ts';
import type { UnknownMember } from '../../../../schema/requests/forwarded/known-members.ts';
import type { WorkThenSettle } from '../../../sale.ts';
import { answerPaid } from '../answer.paid.ts';
import { candidatesFor, type Demand, isRouted, type MemberDemand } from '../catalogue.ts';
import { memberNotServed } from '../demand.ts';
import { HubFailed } from '../hub-failed.ts';
import { type Question, readJsonAs } from '../hubs/ask.ts';
import { HubCount } from '../hubs/chat.ts';
import type { Hubs } from '../hubs/open.ts';
import type { AnswerTooLarge } from '../hubs/verdict.ts';
import { canonicalData, dataCharsMin, vectorsIn } from './vectors.ts';

/* Paid vectors: what is sent to a hub, how large its answer may be, and which part of the answer is stored. */

/** Numbers of tokens, as the hub counts them. */
type TokensOfInputs = { readonly prompt_tokens: number; readonly total_tokens: number };

/** Usage as hubs send it. Some hubs omit the sum or send an empty object. Null if the tokens are not counted. */
const HubUsage = z
  .object({ prompt_tokens: HubCount.nullish(), total_tokens: HubCount.nullish() })
  .transform(({ prompt_tokens, total_tokens }): TokensOfInputs | null =>
    prompt_tokens == null ? null : { prompt_tokens, total_tokens: total_tokens ?? prompt_tokens },
  );

/** The part of a hub's answer that is passed on. Members that a hub adds are dropped. */
const HubEmbeddings = z.object({
  data: z.array(z.object({ index: HubCount.nullish(), embedding: z.unknown() })).max(limits.embedding_inputs_max),
  usage: HubUsage.nullable().default(null),
});

interface EmbeddingsInHand {
  /** Vectors as they are sent to the caller, each as canonical JSON. */
  readonly vectors: readonly string[];
  readonly usage: TokensOfInputs | null;
}

/**
 * Verdict on an answer that is too large. The size depends only on the request: every hub would return as much, and a smaller request
 * succeeds.
 */
const TOO_LARGE: AnswerTooLarge = {
  kind: 'too_large',
  param: 'input',
  detail: `The vectors take more than ${limits.embedding_answer_chars_max} bytes. Send fewer inputs, or request base64 or fewer dimensions. Nothing was charged; the payment stays usable.`,
};

/**
 * Request for one vector for each input. `encoding_format` is sent only if it differs from the API's default, because some hubs refuse the
 * default. Either form is accepted in the answer.
 */
function embeddingsQuestion(asked: EmbeddingRequest): Question<EmbeddingsInHand> {
  const { input, encoding_format, dimensions, extra } = asked;
  return {
    modality: 'embedding',
    path: '/embeddings',
    answer_bytes_max: limits.embedding_hub_answer_bytes_max,
    too_large: TOO_LARGE,
    added: ['model'],
    body: ({ model }) => ({
      content_type: 'application/json',
      bytes: JSON.stringify({
        ...extra,
        model,
        input,
        ...(encoding_format === 'float' ? {} : { encoding_format }),
        ...(dimensions === null ? {} : { dimensions }),
      }),
    }),
    read(bytes) {
      const answer = readJsonAs(HubEmbeddings, bytes);
      const vectors = answer && vectorsIn(answer.data, { count: input.length, encoding_format, dimensions });
      return vectors && { vectors, usage: answer.usage };
    },
  };
}

/** The answer as it is stored: each vector is a text, so that a replay returns the same bytes. */
export type KeptEmbeddings = {
  readonly model: string;
  readonly hub: string;
  readonly vectors: readonly string[];
  readonly usage: TokensOfInputs | null;
};

/** Sells vectors at the fixed price. The hub answers first, and a call without vectors is not charged. */
export function embeddingsPaid(hubs: Hubs): WorkThenSettle<EmbeddingRequest, KeptEmbeddings> {
  const paid = answerPaid<EmbeddingRequest, EmbeddingsInHand, KeptEmbeddings>(hubs, {
    field: 'Mutation.createEmbeddings',
    job_kind: 'other',
    modality: 'embedding',
    demand: demandOf,
    question: embeddingsQuestion,
    usage: ({ usage }) => usage && { ...usage, completion_tokens: 0 },
    answer({ value, by }) {
      const data = canonicalData(value.vectors);
      if (data.length > limits.embedding_answer_chars_max)
        throw new HubFailed([{ hub: by.hub, reason: 'too_large', verdict: TOO_LARGE }]);
      return { answer: { ...by, ...value }, output: new CanonicalText(data), output_member: 'data' };
    },
  });
  return {
    ...paid,
    async admit(asked, payer, context) {
      requireRoom(asked);
      requireTaken(hubs, asked);
      await paid.admit?.(asked, payer, context);
    },
  };
}

/** Members of a request that this service does not know. */
function unknownIn({ extra = {} }: EmbeddingRequest): readonly UnknownMember[] {
  return Object.keys(extra).map(name => ({ name, at: name }));
}

function demandOf(asked: EmbeddingRequest): MemberDemand {
  return { ability: 'embedding', members: unknownIn(asked).map(({ name }) => name) };
}

/** Refuses a member that no hub of the model accepts, so that none is dropped silently. @throws invalid_request, naming the member */
function requireTaken({ settings }: Hubs, asked: EmbeddingRequest): void {
  const { model } = asked;
  const isServed = (demand: Demand) => candidatesFor(settings, model, demand).length > 0;
  if (isRouted(model) || isServed(demandOf(asked)) || !isServed('embedding')) return;
  throw memberNotServed(model, unknownIn(asked), ({ name }) => isServed({ ability: 'embedding', members: [name] }));
}

/** Refuses a request whose answer is known to be too large, before any work is done. @throws answer_too_large */
function requireRoom({ input, encoding_format, dimensions }: EmbeddingRequest): void {
  const chars_min = dataCharsMin({ count: input.length, encoding_format, dimensions });
  if (chars_min <= limits.embedding_answer_chars_max) return;
  const { param, detail } = TOO_LARGE;
  throw new Refusal('answer_too_large', { param, detail, facts: { charged: false } });
}
