import { Arg, Ctx, Directive, Mutation, Resolver } from 'type-graphql';
import { ImageGenerationNoun, ImageNoun } from '../../../../schema/inference/media-answer.ts';
import { limits } from '../../../../schema/limits.ts';
import { ImageRequest } from '../../../../schema/requests/image-generation.ts';
import { type Arguments, inputType, objectType, readRequest, shownOf } from '../../../graph-type.ts';
import type { InferenceContext } from '../context.ts';
import { receiptOf } from '../svc.ts';
import { paidAnswerType } from '../work.type.ts';
import { imagePaid } from './image.paid.ts';

const ImageInput = inputType(
  'ImageInput',
  'Image request. The limits are those of POST /v1/images/generations.',
  ImageRequest,
);
objectType('Image', 'An image: its bytes, or its URL at the hub.', ImageNoun);
const ImageGeneration = paidAnswerType(
  'ImageGeneration',
  'One paid image, as bytes or as a URL, with its receipt.',
  ImageGenerationNoun,
);
type ImageGeneration = InstanceType<typeof ImageGeneration>;

@Resolver(() => ImageGeneration)
export class ImageResolver {
  @Directive(`@paid(price: "${limits.call_price_atomic}")`)
  @Mutation(() => ImageGeneration, { description: 'Creates one image. Charged only if the hub has returned an image.' })
  async createImage(
    @Arg('input', () => ImageInput, { description: 'Prompt, model and options of the image.' }) input: Arguments,
    @Ctx() context: InferenceContext,
  ): Promise<ImageGeneration> {
    const request = readRequest(ImageRequest, input, context);
    const charged = await context.charge(imagePaid(context.hubs), request, context);
    const { receipt, svc } = receiptOf(charged, context);
    return { ...shownOf(ImageGenerationNoun, { ...charged.answer, svc }), receipt };
  }
}
