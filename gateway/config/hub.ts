import { z } from 'zod';
import { httpUrl, withoutSlash } from './forms.ts';

/** An OpenAI-compatible service that we buy answers from. */
export const hub = z.strictObject({
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
  models: modelIds()
    .min(1)
    .describe('ids that chats and responses may ask it for; none begins with `router/` or `svc/`'),
  image_models: modelIds().default([]).describe('ids that draw'),
  audio_models: modelIds().default([]).describe('ids that write down what is spoken'),
  vision_models: modelIds().default([]).describe('of `models` those that look at images'),
  reasoning_models: modelIds().default([]).describe('of `models` those that take `reasoning_effort`'),
  prices: z
    .record(z.string(), z.int().min(0))
    .optional()
    .describe('model to atomic USDC a call, for `accounting` and the `provider_cogs` of receipts'),
  token_prices: z
    .record(z.string(), z.strictObject({ input: z.int().min(0), output: z.int().min(0) }))
    .optional()
    .describe('model to `{input, output}` in atomic USDC per million tokens, for `provider_cogs`'),
});

/** `router/*` is answered by the router alone, `svc/*` is ours to give a meaning. */
function modelIds() {
  return z.array(z.string().regex(/^(?!router\/|svc\/)./, 'an id that no hub has'));
}
