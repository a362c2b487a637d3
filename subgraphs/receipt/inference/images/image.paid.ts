import { z } from 'zod';
import { present } from '../../../../schema/canonical-json.ts';
import { limits } from '../../../../schema/limits.ts';
import type { ImageRequest } from '../../../../schema/requests/image-generation.ts';
import { wellFormedText } from '../../../../schema/requests/text.ts';
import type { WorkThenSettle } from '../../../sale.ts';
import { answerPaid } from '../answer.paid.ts';
import { type Question, readJsonAs } from '../hubs/ask.ts';
import type { Hubs } from '../hubs/open.ts';

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

function isWebAddress(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

const HubImage = z
  .object({
    b64_json: z
      .string()
      .refine(text => text.length % 4 === 0 && BASE64.test(text))
      .nullable()
      .default(null),
    url: wellFormedText.max(limits.image_url_chars_max).refine(isWebAddress).nullable().default(null),
    revised_prompt: wellFormedText.max(limits.image_prompt_chars_max).nullable().default(null),
  })
  .refine(({ b64_json, url }) => (b64_json === null) !== (url === null));
export type HubImage = z.output<typeof HubImage>;

/** The part of an OpenAI image answer that is passed on. Members that a hub adds are dropped. */
const HubImages = z.object({ data: z.array(HubImage).length(1) });

/** Request for one image. An answer above the maximum size is a failure of the call, which is not charged. */
export function imageQuestion({ prompt, size, response_format }: ImageRequest): Question<HubImage> {
  return {
    modality: 'image',
    path: '/images/generations',
    answer_bytes_max: limits.image_answer_bytes_max,
    added: ['model', 'n'],
    body: ({ model }) => ({
      content_type: 'application/json',
      bytes: JSON.stringify({
        model,
        prompt,
        n: 1,
        ...(size === null ? {} : { size }),
        ...(response_format === null ? {} : { response_format }),
      }),
    }),
    read(bytes) {
      const image = readJsonAs(HubImages, bytes)?.data[0] ?? null;
      return image && matchesRequest(image, response_format) ? image : null;
    },
    discreet({ revised_prompt, ...image }, tells) {
      if (image.url !== null && tells.link(image.url)) return null;
      return {
        ...image,
        revised_prompt: revised_prompt === null || tells.word(revised_prompt) ? null : revised_prompt,
      };
    },
  };
}

function matchesRequest(image: HubImage, response_format: ImageRequest['response_format']): boolean {
  return response_format === null || image[response_format] !== null;
}

/** The answer as it is stored: plain JSON with the member names of the wire, so that a replay returns the same bytes. */
export type KeptImage = {
  /** Time of the answer in Unix seconds. */
  readonly created: number;
  readonly model: string;
  readonly hub: string;
  readonly data: readonly HubImage[];
};

/** Sells one image at the fixed price. The hub answers first, and a call without an image is not charged. */
export function imagePaid(hubs: Hubs): WorkThenSettle<ImageRequest, KeptImage> {
  return answerPaid<ImageRequest, HubImage, KeptImage>(hubs, {
    field: 'Mutation.createImage',
    job_kind: 'other',
    modality: 'image',
    question: imageQuestion,
    answer({ value, by, at }) {
      // The answer is sent without nulls, and readers check the commitment against the sent answer.
      const output = [present(value)];
      const answer = { created: at, ...by, data: [value] };
      return { answer, output, output_member: 'data', fetched_there: value.url !== null };
    },
  });
}
