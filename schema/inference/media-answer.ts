import { z } from 'zod';
import { limits } from '../limits.ts';
import { computedMember, JsonMember, sizedList } from '../noun.ts';
import { answeredBy, svcMember, UnixSeconds } from './paid-answer.ts';

/* Vectors, images and transcriptions as they are shown. */

/** The vectors of an answer may be 12 MB. A query that selects them twice exceeds the maximum cost, so that no answer holds them twice. */
const VECTOR_COST = 7;

export const EmbeddingNoun = z.object({
  object: z.literal('embedding').describe('Always `embedding`.'),
  index: z.int().describe('Index of the input whose vector this is, from 0.'),
  embedding: z
    .union([z.array(z.number()), z.string()])
    .describe(
      'The vector: a list of numbers or, with encoding_format `base64`, the base64 of its float32 bytes, little-endian.',
    )
    .meta({ scalar: 'JSON', cost: VECTOR_COST }),
});

export const EmbeddingUsageNoun = z.object({
  prompt_tokens: z.int().describe('Number of tokens of the inputs, as the hub stated it.'),
  total_tokens: z.int().describe('Number of all tokens, as the hub stated it: those of the inputs.'),
});

export const EmbeddingListNoun = z.object({
  object: z.literal('list').describe('Always `list`.'),
  data: computedMember(
    z
      .array(EmbeddingNoun)
      .describe(
        'An object for each input, in the order of the inputs: its `embedding` is the vector. All vectors have the same length.',
      ),
  ),
  ...answeredBy,
  usage: EmbeddingUsageNoun.nullable().describe(
    'Numbers of tokens of the inputs, as the hub stated them. Null if it states none.',
  ),
  ...svcMember,
});

/** The bytes of an image may be 12 MB: a query cannot select them twice either. */
const BYTES_COST = limits.graphql_cost_max / 2;

export const ImageNoun = z.object({
  b64_json: z
    .string()
    .optional()
    .describe('Bytes of the image, in base64. Null or absent if `url` is set.')
    .meta({ cost: BYTES_COST }),
  url: z
    .string()
    .optional()
    .describe(
      'URL of the image at the hub, which decides how long the image is kept. Null or absent if `b64_json` is set.',
    ),
  revised_prompt: z
    .string()
    .optional()
    .describe('The prompt as the hub revised it for the model. Null or absent if the hub states none.'),
});

export const ImageGenerationNoun = z.object({
  created: UnixSeconds,
  ...answeredBy,
  data: sizedList(ImageNoun, 1)
    .length(1)
    .describe('List of one image: its URL (`url`) or its bytes in base64 (`b64_json`).'),
  ...svcMember,
});

const VERBOSE = 'Null or absent unless `response_format` is `verbose_json`.';
const VERBOSE_IF_STATED = 'Null or absent unless `response_format` is `verbose_json` and the hub states it.';

export const TranscriptionNoun = z.object({
  text: z.string().describe('Text that was spoken in the audio.'),
  task: z.literal('transcribe').optional().describe(`Always \`transcribe\`. ${VERBOSE}`),
  language: z.string().optional().describe(`Language that was spoken, as the hub names it. ${VERBOSE_IF_STATED}`),
  duration: z.number().optional().describe(`Length of the audio in seconds. ${VERBOSE_IF_STATED}`),
  segments: z.array(JsonMember).optional().describe(`Segments of the audio, as OpenAI spells them. ${VERBOSE}`),
  ...answeredBy,
  ...svcMember,
});
