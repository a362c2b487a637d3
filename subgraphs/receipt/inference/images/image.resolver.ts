import { Arg, Ctx, Directive, Mutation, Resolver } from 'type-graphql';
import { limits } from '../../../../schema/limits.ts';
import { ImageRequest } from '../../../../schema/requests/image-generation.ts';
import { requestOf } from '../../../../schema/requests/parse.ts';
import type { InferenceContext } from '../context.ts';
import { receiptOf } from '../svc.ts';
import { imagePaid } from './image.paid.ts';
import { generationOf, ImageGeneration, ImageInput } from './image.type.ts';

@Resolver(() => ImageGeneration)
export class ImageResolver {
  @Directive(`@paid(price: "${limits.call_price_atomic}")`)
  @Mutation(() => ImageGeneration, { description: 'One image; charged only for an image in hand.' })
  async createImage(
    @Arg('input', () => ImageInput, { description: 'What is to be shown.' }) input: ImageInput,
    @Ctx() context: InferenceContext,
  ): Promise<ImageGeneration> {
    const request = requestOf(ImageRequest, input, context.valid_body);
    const charged = await context.charge(imagePaid(context.hubs), request, context);
    return { ...generationOf(charged.answer), ...receiptOf(charged, context) };
  }
}
