import { GraphQLJSON, GraphQLJSONObject } from 'graphql-scalars';
import {
  Arg,
  Ctx,
  Directive,
  Field,
  FieldResolver,
  InputType,
  Int,
  Mutation,
  ObjectType,
  Resolver,
  Root,
} from 'type-graphql';
import type { Json, JsonObject } from '../../../../schema/canonical-json.ts';
import { Refusal } from '../../../../schema/errors.ts';
import { limits } from '../../../../schema/limits.ts';
import { EmbeddingRequest } from '../../../../schema/requests/embedding.ts';
import { FORWARDED_MEMBERS } from '../../../../schema/requests/forwarded/extra.ts';
import { opaqueFields, requestOf } from '../../../../schema/requests/parse.ts';
import { Written } from '../../../../schema/written.ts';
import { selected } from '../../../json-sql.ts';
import type { WrittenFields } from '../../../written-leaves.ts';
import { Receipt } from '../../receipt/receipt.entity.ts';
import type { InferenceContext } from '../context.ts';
import { receiptOf } from '../svc.ts';
import { WorkInput } from '../work.type.ts';
import { embeddingsPaid, type KeptEmbeddings } from './embedding.paid.ts';

/*
 * Requests for vectors, and the answers, as the graph has them. An embedding's fields are written as text, since a list of them may be
 * megabytes.
 */

@InputType({ description: 'What is to be turned into vectors; the limits are those of POST /v1/embeddings.' })
class EmbeddingsInput extends WorkInput {
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
class Embedding {
  @Field(() => String, { description: 'Always `embedding`.' }) object!: 'embedding';
  @Field(() => Int, { description: 'Which input it is of, from 0.' }) index!: number;
  @Directive(`@cost(weight: ${VECTOR_COST})`)
  @Field(() => GraphQLJSON, {
    description: 'A list of numbers. With `base64`, a text: the base64 of its float32 bytes, little-endian.',
  })
  embedding!: Json;
}

@ObjectType({ description: 'Tokens, as the hub counts them.' })
class EmbeddingUsage {
  @Field(() => Int, { description: 'Tokens of the inputs, as the hub stated them.' }) promptTokens!: number;
  @Field(() => Int, { description: 'The same, as the hub stated it.' }) totalTokens!: number;
}

@ObjectType({ description: 'Paid vectors with their receipt.' })
class EmbeddingList {
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
function embeddingListOf({ usage, ...kept }: KeptEmbeddings): Omit<EmbeddingList, 'svc' | 'receipt'> {
  return {
    ...kept,
    object: 'list',
    usage: usage && { promptTokens: usage.prompt_tokens, totalTokens: usage.total_tokens },
  };
}

/** The fields of an embedding as JSON text. */
const written: Readonly<Record<string, (vector: string, index: number) => string>> = {
  __typename: () => '"Embedding"',
  object: () => '"embedding"',
  index: (_, index) => String(index),
  embedding: vector => vector,
};

/** The vectors are text already, and are not gone through number by number where whoever asks takes text. */
export const embeddingsWritten: WrittenFields = {
  'EmbeddingList.data'({ vectors }: EmbeddingList, _context: unknown, { fieldNodes, fragments }) {
    const fields = [...selected(fieldNodes, fragments)].map(([key, [node]]) => ({
      key,
      write: written[node?.name.value ?? ''],
    }));
    const items = vectors.map((vector, index) => {
      const members = fields.map(({ key, write }) => `"${key}":${write?.(vector, index) ?? 'null'}`);
      return `{${members.join()}}`;
    });
    return new Written(`[${items.join()}]`);
  },
};

@Resolver(() => EmbeddingList)
export class EmbeddingResolver {
  @Directive(`@paid(price: "${limits.call_price_atomic}")`)
  @Mutation(() => EmbeddingList, { description: 'A vector for each input; charged only for vectors in hand.' })
  async createEmbeddings(
    @Arg('input', () => EmbeddingsInput, { description: 'What is to be turned into vectors.' }) input: EmbeddingsInput,
    @Ctx() context: InferenceContext,
  ): Promise<EmbeddingList> {
    const request = requestOf(EmbeddingRequest, bodyOf(input), context.valid_body, opaqueFields);
    const charged = await context.charge(embeddingsPaid(context.hubs), request, context);
    return { ...embeddingListOf(charged.answer), ...receiptOf(charged, context) };
  }

  @FieldResolver(() => [Embedding])
  data(@Root() { vectors }: EmbeddingList): Embedding[] {
    return vectors.map((vector, index) => ({ object: 'embedding', index, embedding: JSON.parse(vector) as Json }));
  }
}

/** As REST has it: one member for texts and for tokens. */
function bodyOf({ inputTokens, ...members }: EmbeddingsInput): object {
  const { input } = members;
  if (input && inputTokens) {
    const detail = 'inputTokens: input and inputTokens were both given. Give one of them.';
    throw new Refusal('invalid_request', { param: 'inputTokens', detail });
  }
  if (!input && !inputTokens)
    throw new Refusal('invalid_request', { param: 'input', detail: 'input: Give input or inputTokens.' });
  return { ...members, input: input ?? inputTokens };
}
