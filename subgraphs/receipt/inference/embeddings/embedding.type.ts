import { GraphQLJSON, GraphQLJSONObject } from 'graphql-scalars';
import { Directive, Field, InputType, Int, ObjectType } from 'type-graphql';
import type { Json, JsonObject } from '../../../../schema/canonical-json.ts';
import { limits } from '../../../../schema/limits.ts';
import { FORWARDED_MEMBERS } from '../../../../schema/requests/forwarded/extra.ts';
import { Receipt } from '../../receipt/receipt.entity.ts';
import { WorkInput } from '../work.type.ts';
import type { KeptEmbeddings } from './embedding.paid.ts';

/* Requests for vectors, and the answers, as the graph has them. */

@InputType({ description: 'What is to be turned into vectors; the limits are those of POST /v1/embeddings.' })
export class EmbeddingsInput extends WorkInput {
  @Field(() => [String], { nullable: true, description: 'Texts, none of them empty. Either these or `inputTokens`.' })
  input?: string[] | null;
  @Field(() => [[Int]], { nullable: true, description: 'The tokens of each text, by the model’s own vocabulary.' })
  inputTokens?: number[][] | null;
  @Field(() => String, { nullable: true, description: '`float`, the default, or `base64`.' })
  encodingFormat?: string | null;
  @Field(() => Int, {
    nullable: true,
    description: `Length of each vector, 1 to ${limits.embedding_dimensions_max}, where the model can shorten them.`,
  })
  dimensions?: number | null;
  @Field(() => GraphQLJSONObject, {
    nullable: true,
    description: FORWARDED_MEMBERS,
  })
  extra?: JsonObject | null;
}

/** All vectors may be 12 MB: a document that names them twice costs more than it may, so that no answer holds them twice. */
const VECTOR_COST = 7;

@ObjectType({ description: 'The vector of one input.' })
export class Embedding {
  @Field(() => String, { description: 'Always `embedding`.' }) object!: 'embedding';
  @Field(() => Int, { description: 'Which input it is of, from 0.' }) index!: number;
  @Directive(`@cost(weight: ${VECTOR_COST})`)
  @Field(() => GraphQLJSON, {
    description: 'A list of numbers. With `base64`, a text: the base64 of its float32 bytes, little-endian.',
  })
  embedding!: Json;
}

@ObjectType({ description: 'Tokens, as the hub counts them.' })
export class EmbeddingUsage {
  @Field(() => Int, { description: 'Tokens of the inputs, as the hub stated them.' }) promptTokens!: number;
  @Field(() => Int, { description: 'The same, as the hub stated it.' }) totalTokens!: number;
}

@ObjectType({ description: 'Paid vectors with their receipt.' })
export class EmbeddingList {
  @Field(() => String, { description: 'Always `list`.' }) object!: 'list';
  @Directive(`@listSize(assumedSize: ${limits.embedding_inputs_max})`)
  @Field(() => [Embedding], { description: 'One for each input, in the order of the inputs.' })
  readonly data?: Embedding[];
  @Field(() => String, { description: 'Model that the hub was asked for. See answered_model.' }) model!: string;
  @Field(() => String, { description: 'The hub that answered.' }) hub!: string;
  @Field(() => EmbeddingUsage, { nullable: true, description: 'Null where the hub does not count.' })
  usage!: EmbeddingUsage | null;
  @Field(() => GraphQLJSONObject, { description: 'The whole public receipt document.' }) svc!: JsonObject;
  @Field(() => Receipt, { nullable: true, description: 'The same, to be selected from.' }) receipt!: Receipt | null;
  /** What `data` is made of: each vector as canonical JSON. */
  vectors!: KeptEmbeddings['vectors'];
}

/** The kept answer in the graph's words, without its receipt. */
export function embeddingListOf({ usage, ...kept }: KeptEmbeddings): Omit<EmbeddingList, 'svc' | 'receipt'> {
  return {
    ...kept,
    object: 'list',
    usage: usage && { promptTokens: usage.prompt_tokens, totalTokens: usage.total_tokens },
  };
}
