import { Arg, Ctx, Directive, FieldResolver, Mutation, Resolver, Root } from 'type-graphql';
import type { Json } from '../../../../schema/canonical-json.ts';
import { Refusal } from '../../../../schema/errors.ts';
import { limits } from '../../../../schema/limits.ts';
import { EmbeddingRequest } from '../../../../schema/requests/embedding.ts';
import { opaqueFields, requestOf } from '../../../../schema/requests/parse.ts';
import { Written } from '../../../../schema/written.ts';
import { selected } from '../../../json-sql.ts';
import type { WrittenFields } from '../../../written-leaves.ts';
import type { InferenceContext } from '../context.ts';
import { receiptOf } from '../svc.ts';
import { embeddingsPaid } from './embedding.paid.ts';
import { Embedding, EmbeddingList, EmbeddingsInput, embeddingListOf } from './embedding.type.ts';

/* Vectors on the graph: an embedding's fields are written as text, since a list of them may be megabytes. */

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
