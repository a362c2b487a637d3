import { Arg, Ctx, Directive, FieldResolver, Mutation, Resolver, Root } from 'type-graphql';
import { Refusal } from '../../../../schema/errors.ts';
import { EmbeddingListNoun, EmbeddingNoun, EmbeddingUsageNoun } from '../../../../schema/inference/media-answer.ts';
import { RawJson } from '../../../../schema/json-text.ts';
import { limits } from '../../../../schema/limits.ts';
import { EmbeddingArguments, EmbeddingRequest } from '../../../../schema/requests/embedding.ts';
import {
  type Arguments,
  descriptionOptions,
  inputType,
  objectType,
  readRequest,
  shownOf,
} from '../../../graph-type.ts';
import { selectedFields } from '../../../json-sql.ts';
import type { WrittenFields } from '../../../written-leaves.ts';
import type { InferenceContext } from '../context.ts';
import { receiptOf } from '../svc.ts';
import { paidAnswerType } from '../work.type.ts';
import { embeddingsPaid, type KeptEmbeddings } from './embedding.paid.ts';

/* Graph types and field of embeddings. The fields of an embedding are written as text, because a list of embeddings may be megabytes. */

const EmbeddingsInput = inputType(
  'EmbeddingsInput',
  'Embedding request. The limits are those of POST /v1/embeddings.',
  EmbeddingArguments,
);
const Embedding = objectType('Embedding', 'The vector of one input, and the index of that input.', EmbeddingNoun);
type Embedding = InstanceType<typeof Embedding>;
objectType('EmbeddingUsage', 'Numbers of tokens, as the hub counts them.', EmbeddingUsageNoun);
const EmbeddingList = paidAnswerType(
  'EmbeddingList',
  'Paid vectors, one for each input, with their receipt.',
  EmbeddingListNoun,
);
/** `vectors`: the vectors of `data`, each as canonical JSON. */
type EmbeddingList = InstanceType<typeof EmbeddingList> & Pick<KeptEmbeddings, 'vectors'>;

/** The fields of an embedding as JSON text. */
const written: Readonly<Record<string, (vector: string, index: number) => string>> = {
  __typename: () => '"Embedding"',
  object: () => '"embedding"',
  index: (_, index) => String(index),
  embedding: vector => vector,
};

/**
 * Writes `EmbeddingList.data` as text. The vectors are text already, so their numbers are not copied one by one if the caller accepts text.
 */
export const embeddingsWritten: WrittenFields = {
  'EmbeddingList.data'({ vectors }: EmbeddingList, _context: unknown, { fieldNodes, fragments }) {
    const fields = [...selectedFields(fieldNodes, fragments)].map(([key, [node]]) => ({
      key,
      write: written[node?.name.value ?? ''],
    }));
    const items = vectors.map((vector, index) => {
      const members = fields.map(({ key, write }) => `"${key}":${write?.(vector, index) ?? 'null'}`);
      return `{${members.join()}}`;
    });
    return new RawJson(`[${items.join()}]`);
  },
};

@Resolver(() => EmbeddingList)
export class EmbeddingResolver {
  @Directive(`@paid(price: "${limits.call_price_atomic}")`)
  @Mutation(() => EmbeddingList, {
    description: 'Creates a vector for each input. Charged only if the hub has returned the vectors.',
  })
  async createEmbeddings(
    @Arg('input', () => EmbeddingsInput, { description: 'Texts or tokens to embed, model and options.' })
    input: Arguments,
    @Ctx() context: InferenceContext,
  ): Promise<EmbeddingList> {
    const request = readRequest(EmbeddingRequest, inOneMember(input), context);
    const charged = await context.charge(embeddingsPaid(context.hubs), request, context);
    const { answer } = charged;
    const { receipt, svc } = receiptOf(charged, context);
    return {
      ...shownOf(EmbeddingListNoun, { ...answer, object: 'list', svc }),
      vectors: answer.vectors,
      receipt,
    };
  }

  @Directive(`@listSize(assumedSize: ${limits.embedding_inputs_max})`)
  @FieldResolver(() => [Embedding], descriptionOptions(EmbeddingListNoun.shape.data))
  data(@Root() { vectors }: EmbeddingList): Embedding[] {
    return vectors.map((vector, index) => ({ object: 'embedding', index, embedding: JSON.parse(vector) as number[] }));
  }
}

/** Arguments with one member for texts and for tokens, as in REST. @throws invalid_request if both are given, or neither */
function inOneMember({ inputTokens, ...members }: Arguments): Arguments {
  const { input } = members;
  if (input && inputTokens) {
    const detail = 'inputTokens: input and inputTokens were both given. Give one of them.';
    throw new Refusal('invalid_request', { param: 'inputTokens', detail });
  }
  if (!input && !inputTokens)
    throw new Refusal('invalid_request', { param: 'input', detail: 'input or inputTokens is required.' });
  return { ...members, input: input ?? inputTokens };
}
