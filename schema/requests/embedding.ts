import { z } from 'zod';
import type { JsonObject } from '../canonical-json.ts';
import { INT_MAX, limits } from '../limits.ts';
import { restOnly } from '../noun.ts';
import { Extra, extraOf, FORWARDED, withoutProto } from './forwarded/extra.ts';
import { bodyPlace } from './forwarded/foreign-members.ts';
import { intentMembers, ModelId, svcMembers, withParent } from './paid-work.ts';
import { listOf } from './parse.ts';
import { wellFormedText } from './text.ts';
import { identifiersAndCaches, only, unset, usualTier, withoutEffect } from './unsupported-members.ts';

/* The body of POST /v1/embeddings. */

const { embedding_inputs_max: inputs_max, embedding_tokens_max: tokens_max, embedding_dimensions_max } = limits;

const Text = wellFormedText.min(1);
const Tokens = listOf(z.int().min(0).max(INT_MAX), tokens_max);

/** One or more texts, or one or more lists of tokens. */
export type EmbeddingInput = readonly string[] | readonly (readonly number[])[];

/** The forms of an input, each parsed to a list. A single text is a list of one, because the answer is the same. */
const forms = {
  text: Text.transform((text): EmbeddingInput => [text]),
  texts: listOf(Text, inputs_max).transform((texts): EmbeddingInput => texts),
  tokens: Tokens.transform((tokens): EmbeddingInput => [tokens]),
  lists_of_tokens: listOf(Tokens, inputs_max).transform((lists): EmbeddingInput => lists),
} as const;

/** Decided by the first item, because a union would collect the errors of every item in every form. */
function formOf(given: unknown): keyof typeof forms {
  if (!Array.isArray(given)) return 'text';
  const [first] = given;
  if (typeof first === 'number') return 'tokens';
  return Array.isArray(first) ? 'lists_of_tokens' : 'texts';
}

const Input = z
  .unknown()
  .transform((given, context): EmbeddingInput => {
    const { data, error } = forms[formOf(given)].safeParse(given);
    const [issue] = error?.issues ?? [];
    if (issue) context.addIssue({ code: 'custom', path: issue.path, message: issue.message });
    return data ?? z.NEVER;
  })
  .meta({
    description: `A text, up to ${inputs_max} texts, the tokens of a text (up to ${tokens_max}), or up to ${inputs_max} such lists of tokens. No text or list may be empty. The hub decides how much of a text its model reads.`,
    anyOf: [
      { type: 'string', minLength: 1 },
      { type: 'array', items: { type: 'string', minLength: 1 }, minItems: 1, maxItems: inputs_max },
      { type: 'array', items: { type: 'integer', minimum: 0 }, minItems: 1, maxItems: tokens_max },
      {
        type: 'array',
        items: { type: 'array', items: { type: 'integer', minimum: 0 }, minItems: 1, maxItems: tokens_max },
        minItems: 1,
        maxItems: inputs_max,
      },
    ],
  });

/** Members that would change the answer or its price and are not passed on; refused by name. */
const embeddingUnserved = {
  stream: only('vectors are returned in one piece', false),
  n: only('the price is for one answer', 1),
  service_tier: usualTier,
  stream_options: unset('vectors are returned in one piece'),
  web_search_options: unset('no web search is made'),
} as const;

const members = z.looseObject({
  model: ModelId,
  input: Input,
  encoding_format: z
    .enum(['float', 'base64'])
    .nullish()
    .transform(given => given ?? 'float')
    .describe(
      'Encoding of the vectors. `float` (default): each vector is a list of numbers. `base64`: each vector is the base64 of its float32 bytes, little-endian.',
    ),
  dimensions: z
    .int()
    .min(1)
    .max(embedding_dimensions_max)
    .nullable()
    .default(null)
    .describe(
      `Length of each vector, 1 to ${embedding_dimensions_max}, if the model supports shorter vectors. Default: the full length of the model.`,
    ),
  ...intentMembers,
  ...svcMembers,
  ...restOnly({ ...embeddingUnserved, ...withoutEffect(identifiersAndCaches) }),
  extra: Extra,
});

const place = bodyPlace(Object.keys(members.shape), Object.keys(identifiersAndCaches), () => FORWARDED);

/** Body of POST /v1/embeddings. Absent and null are the same, so that one call has one canonical form. */
export const EmbeddingRequest = z.preprocess(
  withoutProto,
  members.transform((given, context) => {
    const { model, input, encoding_format, dimensions, intent_id, attempt_index, svc } = given;
    const extra = extraOf(given as JsonObject, place, context);
    return {
      model,
      input,
      encoding_format,
      dimensions,
      intent_id,
      attempt_index,
      ...withParent(given),
      ...(svc ? { svc } : {}),
      ...(extra ? { extra } : {}),
    };
  }),
);
export type EmbeddingRequest = z.output<typeof EmbeddingRequest>;

/** The request on the graph, whose inputs have no unions: texts and tokens are two members. */
export const EmbeddingArguments = members.extend({
  input: z
    .array(z.string())
    .nullish()
    .describe(`1 to ${inputs_max} texts, none of them empty. Send either this or \`inputTokens\`.`),
  input_tokens: z
    .array(z.array(z.int()))
    .nullish()
    .describe(
      `Tokens of 1 to ${inputs_max} texts, as ids in the vocabulary of the model. Send either this or \`input\`.`,
    ),
});

/** Whether an input is tokens. */
export function isTokens(input: EmbeddingInput): input is readonly (readonly number[])[] {
  return typeof input[0] !== 'string';
}
