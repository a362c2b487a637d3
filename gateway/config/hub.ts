import { z } from 'zod';
import { limits } from '../../schema/limits.ts';
import { dialects, type HubSettings, tokenLimitMembers } from '../../subgraphs/receipt/inference/catalogue.ts';
import { httpUrl, withoutSlash } from './forms.ts';

/** A schema for each member of `HubSettings`, and for no other member. */
const members = z.strictObject({
  name: z
    .string()
    .regex(/^[a-z0-9][a-z0-9._-]{0,62}$/i, 'a hub name has at most 63 letters, digits, dots and dashes')
    .refine(name => name !== 'router', 'the name router is reserved for the router')
    .refine(name => name !== 'svc', 'the name svc is reserved for this service')
    .describe(
      'name in answers, receipts and headers: at most 63 letters, digits, dots and dashes; not `router` or `svc`',
    ),
  base_url: httpUrl().transform(withoutSlash).describe('URL including the version, `https://…/v1`'),
  api_key: z.string().min(1).describe('API key of this service at the hub'),
  dialect: z
    .enum(dialects)
    .optional()
    .describe(
      "API of the hub: `openai` (default), or `anthropic` for Anthropic's Messages API; such a hub serves messages only, unchanged",
    ),
  models: modelIds()
    .min(1)
    .describe('model ids for chats, responses and messages; none begins with `router/` or `svc/`'),
  image_models: modelIds().default([]).describe('ids of image generation models'),
  audio_models: modelIds().default([]).describe('ids of transcription models'),
  embedding_models: modelIds().default([]).describe('ids of embedding models'),
  vision_models: modelIds().default([]).describe('those of `models` that accept images'),
  audio_input_models: modelIds().default([]).describe('those of `models` that accept `input_audio` parts'),
  file_input_models: modelIds().default([]).describe('those of `models` that accept `file` parts'),
  reasoning_models: modelIds().default([]).describe('those of `models` that accept `reasoning_effort`'),
  forward: z
    .array(z.string().min(1))
    .optional()
    .describe('request members unknown to this service that the hub accepts; default: all'),
  aliases: z
    .record(z.string(), z.array(z.string().min(1).max(limits.model_id_chars_max)).min(1))
    .optional()
    .describe(
      'object of model to other names that the hub may give it in answers; a provider prefix and a date or version suffix need no alias',
    ),
  token_limit_members: z
    .record(z.string(), z.enum(tokenLimitMembers))
    .optional()
    .describe(
      'object of model to the member that limits its tokens: `max_tokens`, or `max_completion_tokens` (default for `reasoning_models`)',
    ),
  prices: z
    .record(z.string(), z.int().min(0))
    .optional()
    .describe('object of model to atomic USDC per call, for `accounting` and the `provider_cogs` of receipts'),
  token_prices: z
    .record(z.string(), z.strictObject({ input: z.int().min(0), output: z.int().min(0) }))
    .optional()
    .describe('object of model to `{input, output}` in atomic USDC per million tokens, for `provider_cogs`'),
} satisfies Readonly<Record<keyof HubSettings, z.ZodType>>);

const SERVED = 'models, image_models, audio_models or embedding_models';

/**
 * Settings of a hub. A property or price of a model that the hub does not serve is refused, because it is most likely a misspelt
 * id.
 */
export const hub = members.superRefine((given, context) => {
  const { models, image_models, audio_models, embedding_models } = given;
  const { vision_models, audio_input_models, file_input_models, reasoning_models } = given;
  const { aliases = {}, token_limit_members = {}, prices = {}, token_prices = {} } = given;
  if (given.dialect === 'anthropic' && [image_models, audio_models, embedding_models].some(ids => ids.length > 0))
    context.addIssue({
      code: 'custom',
      path: ['dialect'],
      message: 'a hub with dialect anthropic has no image_models, audio_models or embedding_models',
    });
  const served = [...models, ...image_models, ...audio_models, ...embedding_models];
  const said = {
    vision_models: [vision_models, models, 'models'],
    audio_input_models: [audio_input_models, models, 'models'],
    file_input_models: [file_input_models, models, 'models'],
    reasoning_models: [reasoning_models, models, 'models'],
    token_limit_members: [Object.keys(token_limit_members), models, 'models'],
    aliases: [Object.keys(aliases), served, SERVED],
    prices: [Object.keys(prices), served, SERVED],
    token_prices: [Object.keys(token_prices), served, SERVED],
  } as const;
  for (const [member, [named, among, where]] of Object.entries(said)) {
    if (named.some(id => !among.includes(id)))
      context.addIssue({ code: 'custom', path: [member], message: `names a model that is not in ${where}` });
  }
});

/** Ids of a hub's models. `router/*` is served only by the router, and `svc/*` is reserved for this service. */
function modelIds() {
  return z.array(
    z
      .string()
      .regex(/^(?!router\/|svc\/)./, 'a model id of a hub is not empty and does not begin with router/ or svc/'),
  );
}
