import { z } from 'zod';
import { limits } from '../limits.ts';
import { restOnly } from '../noun.ts';
import { intentMembers, ModelId, svcMembers, withParent } from './paid-work.ts';
import { wellFormedText } from './text.ts';
import { only, unset } from './unsupported-members.ts';

const { image_side_pixels_min: least, image_side_pixels_max: most } = limits;

function isSize(size: string): boolean {
  if (size === 'auto') return true;
  const [, ...sides] = size.match(/^([1-9]\d{1,3})x([1-9]\d{1,3})$/) ?? [];
  return sides.length === 2 && sides.every(side => Number(side) >= least && Number(side) <= most);
}

const HUB_DECIDES = 'the hub decides';
const FROM_TEXT = 'an image is made from the prompt alone';

const unserved = {
  stream: only('an image is returned in one piece', false),
  quality: only(HUB_DECIDES, 'auto'),
  background: only(HUB_DECIDES, 'auto'),
  moderation: only(HUB_DECIDES, 'auto'),
  style: unset(HUB_DECIDES),
  output_format: unset(HUB_DECIDES),
  output_compression: unset(HUB_DECIDES),
  image: unset(FROM_TEXT),
  mask: unset(FROM_TEXT),
} as const;

const members = z.object({
  model: ModelId,
  prompt: wellFormedText
    .min(1)
    .max(limits.image_prompt_chars_max)
    .describe(`Description of the image: 1 to ${limits.image_prompt_chars_max} characters.`),
  size: z
    .string()
    .refine(isSize, { error: `must be auto or WIDTHxHEIGHT with sides of ${least} to ${most} pixels` })
    .nullable()
    .default(null)
    .describe(
      `Size of the image: \`auto\`, or \`WIDTHxHEIGHT\` in pixels with sides of ${least} to ${most}. Default: the hub decides.`,
    ),
  response_format: z
    .enum(['url', 'b64_json'])
    .nullable()
    .default(null)
    .describe(
      'Form of the image: `url` or `b64_json`. Default: the form in which the hub returns the image. A URL works for as long as the hub keeps the image.',
    ),
  ...intentMembers,
  ...svcMembers,
  n: only('the price is for one image, so send the call n times', 1).describe(
    'Number of images. Always 1. Default: 1.',
  ),
  ...restOnly(unserved),
});

/**
 * Body of POST /v1/images/generations. Absent and null are the same, and members with one possible value are left out, so that a call has one
 * canonical form.
 */
export const ImageRequest = members.transform(
  ({ model, prompt, size, response_format, intent_id, attempt_index, svc, ...given }) => ({
    model,
    prompt,
    size,
    response_format,
    intent_id,
    attempt_index,
    ...withParent(given),
    ...(svc ? { svc } : {}),
  }),
);
export type ImageRequest = z.output<typeof ImageRequest>;
