import { GraphQLJSONObject, GraphQLSafeInt } from 'graphql-scalars';
import { Arg, Ctx, Directive, Field, InputType, Int, Mutation, ObjectType, Resolver } from 'type-graphql';
import type { JsonObject } from '../../../../schema/canonical-json.ts';
import { ImageNoun } from '../../../../schema/inference/media-answer.ts';
import { limits } from '../../../../schema/limits.ts';
import { ImageRequest } from '../../../../schema/requests/image-generation.ts';
import { requestOf } from '../../../../schema/requests/parse.ts';
import { objectType } from '../../../graph-type.ts';
import { Receipt } from '../../receipt/receipt.entity.ts';
import type { InferenceContext } from '../context.ts';
import { receiptOf } from '../svc.ts';
import { WorkInput } from '../work.type.ts';
import { imagePaid, type KeptImage } from './image.paid.ts';

@InputType({ description: 'An image request; the limits are those of POST /v1/images/generations.' })
class ImageInput extends WorkInput {
  @Field(() => String, { description: 'What it is to show.' }) prompt!: string;
  @Field(() => Int, { nullable: true, description: 'One: the price is that of one image.' })
  n?: number | null;
  @Field(() => String, { nullable: true, description: '`auto`, or `WIDTHxHEIGHT` in pixels.' })
  size?: string | null;
  @Field(() => String, { nullable: true, description: '`url` or `b64_json`; without it as the hub gives it.' })
  responseFormat?: string | null;
}

export const Image = objectType('Image', 'An image, by its bytes or by where the hub keeps it.', ImageNoun);
type Image = InstanceType<typeof Image>;

@ObjectType({ description: 'A paid image with its receipt.' })
class ImageGeneration {
  @Field(() => GraphQLSafeInt, { description: 'Unix seconds.' }) created!: number;
  @Field(() => String, { description: 'Model that the hub was asked for. See answered_model.' }) model!: string;
  @Field(() => String, { description: 'The hub that answered.' }) hub!: string;
  @Directive('@listSize(assumedSize: 1)')
  @Field(() => [Image], { description: 'The image.' })
  data!: Image[];
  @Field(() => GraphQLJSONObject, { description: 'The whole public receipt document.' }) svc!: JsonObject;
  @Field(() => Receipt, { nullable: true, description: 'The same, to be selected from.' }) receipt!: Receipt | null;
}

/** The kept answer in the graph's words, without its receipt. */
function generationOf({ data, ...rest }: KeptImage): Omit<ImageGeneration, 'svc' | 'receipt'> {
  return {
    ...rest,
    data: data.map(({ b64_json, url, revised_prompt }) => ({ b64Json: b64_json, url, revisedPrompt: revised_prompt })),
  };
}

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
