import { GraphQLJSONObject, GraphQLSafeInt } from 'graphql-scalars';
import { Directive, Field, InputType, Int, ObjectType } from 'type-graphql';
import type { JsonObject } from '../../../../schema/canonical-json.ts';
import { limits } from '../../../../schema/limits.ts';
import { Receipt } from '../../receipt/receipt.entity.ts';
import { WorkInput } from '../work.type.ts';
import type { KeptImage } from './image.paid.ts';

@InputType({ description: 'An image request; the limits are those of POST /v1/images/generations.' })
export class ImageInput extends WorkInput {
  @Field(() => String, { description: 'What it is to show.' }) prompt!: string;
  @Field(() => Int, { nullable: true, description: 'One: the price is that of one image.' })
  n?: number | null;
  @Field(() => String, { nullable: true, description: '`auto`, or `WIDTHxHEIGHT` in pixels.' })
  size?: string | null;
  @Field(() => String, { nullable: true, description: '`url` or `b64_json`; without it as the hub gives it.' })
  responseFormat?: string | null;
}

/** Its bytes may be 12 MB: a document that names them twice costs more than it may, so that no answer holds them twice. */
const BYTES_COST = limits.graphql_cost_max / 2;

@ObjectType({ description: 'An image, by its bytes or by where the hub keeps it.' })
export class Image {
  @Directive(`@cost(weight: ${BYTES_COST})`)
  @Field(() => String, { nullable: true, description: 'Its bytes, base64; null where there is a URL.' })
  b64Json!: string | null;
  @Field(() => String, {
    nullable: true,
    description: 'Where the hub keeps it, for as long as it does; null where its bytes are here.',
  })
  url!: string | null;
  @Field(() => String, { nullable: true, description: 'The prompt as the model took it.' })
  revisedPrompt!: string | null;
}

@ObjectType({ description: 'A paid image with its receipt.' })
export class ImageGeneration {
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
export function generationOf({ data, ...rest }: KeptImage): Omit<ImageGeneration, 'svc' | 'receipt'> {
  return {
    ...rest,
    data: data.map(({ b64_json, url, revised_prompt }) => ({ b64Json: b64_json, url, revisedPrompt: revised_prompt })),
  };
}
