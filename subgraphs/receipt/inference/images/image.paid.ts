import type { ImageRequest } from '../../../../schema/requests/image-generation.ts';
import type { WorkThenSettle } from '../../../sale.ts';
import { answerPaid } from '../answer.paid.ts';
import type { Hubs } from '../hubs/open.ts';
import { type HubImage, imageQuestion } from './question.ts';

/** The answer as it is kept: plain JSON in the words of the wire, so that a replay projects the same bytes again. */
export type ImageAnswer = {
  /** Unix seconds. */
  readonly created: number;
  readonly model: string;
  readonly hub: string;
  readonly data: readonly HubImage[];
};

/** One image, sold as a chat completion is: the hub answers first, and only an image in hand is charged. */
export function imagePaid(hubs: Hubs): WorkThenSettle<ImageRequest, ImageAnswer> {
  return answerPaid<ImageRequest, HubImage, ImageAnswer>(hubs, {
    field: 'Mutation.createImage',
    job_kind: 'other',
    modality: 'image',
    question: imageQuestion,
    answer({ value, by, at }) {
      const data = [value];
      return { answer: { created: at, ...by, data }, output: data, fetched_there: value.url !== null };
    },
  });
}
