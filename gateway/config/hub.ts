import { z } from 'zod';
import { limits } from '../../schema/limits.ts';
import { dialects, tokenLimitMembers } from '../../subgraphs/receipt/inference/catalogue.ts';
import { httpUrl, withoutSlash } from './forms.ts';

const members = z.strictObject({
  name: z
    .string()
    .regex(/^[a-z0-9][a-z0-9._-]{0,62}$/i, 'a hub name is up to 63 letters, digits, dots, dashes')
    .refine(name => name !== 'router', 'a hub is not called as the router is')
    .refine(name => name !== 'svc', 'a hub is not called as what this service stamps itself')
    .describe(
      'as answers, receipts and headers name it: up to 63 letters, digits, dots, dashes; not `router` or `svc`',
    ),
  base_url: httpUrl().transform(withoutSlash).describe('up to and including the version, `https://…/v1`'),
  api_key: z.string().min(1).describe('our key there'),
  dialect: z
    .enum(dialects)
    .optional()
    .describe(
      "the API that it speaks: `openai` (default), or `anthropic`, Anthropic's Messages API, by which it is asked for messages alone, as their callers wrote them",
    ),
  models: modelIds()
    .min(1)
    .describe(
      'ids that chats, responses and messages may ask it for (messages alone with `dialect: anthropic`); none begins with `router/` or `svc/`',
    ),
  image_models: modelIds().default([]).describe('ids that draw'),
  audio_models: modelIds().default([]).describe('ids that write down what is spoken'),
  embedding_models: modelIds().default([]).describe('ids that turn texts into vectors'),
  vision_models: modelIds().default([]).describe('of `models` those that look at images'),
  audio_input_models: modelIds().default([]).describe('of `models` those that take `input_audio` parts'),
  file_input_models: modelIds().default([]).describe('of `models` those that take `file` parts'),
  reasoning_models: modelIds().default([]).describe('of `models` those that take `reasoning_effort`'),
  forward: z
    .array(z.string().min(1))
    .optional()
    .describe(
      'names of members unknown to this service that it takes; a request with another is put to other hubs, or refused; default: all',
    ),
  aliases: z
    .record(z.string(), z.array(z.string().min(1).max(limits.model_id_chars_max)).min(1))
    .optional()
    .describe(
      'model to the other names by which the hub may name it in its answers; a provider before it and a date or number of a version behind it need none',
    ),
  token_limit_members: z
    .record(z.string(), z.enum(tokenLimitMembers))
    .optional()
    .describe(
      'of `models`, model to the member that bounds its tokens, `max_tokens` or `max_completion_tokens`; default: the latter for `reasoning_models`, the former for others, and the other one where the hub refuses it and takes the other',
    ),
  prices: z
    .record(z.string(), z.int().min(0))
    .optional()
    .describe('model to atomic USDC a call, for `accounting` and the `provider_cogs` of receipts'),
  token_prices: z
    .record(z.string(), z.strictObject({ input: z.int().min(0), output: z.int().min(0) }))
    .optional()
    .describe('model to `{input, output}` in atomic USDC per million tokens, for `provider_cogs`'),
});

const SERVED = 'models, image_models, audio_models or embedding_models';

/**
 * A service that we buy answers from. Of a model that it does not serve nobody would ask whether it looks at
 * images, reasons or has a price: such a word is a mistake.
 */
export const hub = members.superRefine((given, context) => {
  const { models, image_models, audio_models, embedding_models } = given;
  const { vision_models, audio_input_models, file_input_models, reasoning_models } = given;
  const { aliases = {}, token_limit_members = {}, prices = {}, token_prices = {} } = given;
  if (given.dialect === 'anthropic' && [image_models, audio_models, embedding_models].some(ids => ids.length > 0))
    context.addIssue({
      code: 'custom',
      path: ['dialect'],
      message: 'a hub that speaks it neither draws, hears nor embeds',
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

/** `router/*` is answered by the router alone, `svc/*` is ours to give a meaning. */
function modelIds() {
  return z.array(z.string().regex(/^(?!router\/|svc\/)./, 'an id that no hub has'));
}
