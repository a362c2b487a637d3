import { execute, parse, subscribe } from 'graphql';
import { Arg, Ctx, Field, InputType, Mutation, ObjectType, Query, Resolver, Root, Subscription } from 'type-graphql';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { parseBody } from '../../schema/requests/parse.ts';
import { type Arguments, readRequest } from '../../subgraphs/graph-type.ts';
import { buildSubgraph } from '../../subgraphs/subgraph.ts';
import { InputReadBy } from '../../subgraphs/unread-input.ts';

const WordRequest = z.object({ word: z.string() });
const OtherRequest = z.object({ word: z.string() });

@InputType('WordInput')
class WordInput {
  @Field(() => String)
  word!: string;
}

@ObjectType('Said')
class Said {
  @Field(() => String)
  by!: string;
}

const wordOf = (input: WordInput | null): Said => ({ by: input instanceof WordInput ? input.word : String(input) });

@Resolver()
class WordResolver {
  @Query(() => Said)
  said(): Said {
    return { by: 'nobody' };
  }

  @InputReadBy(WordRequest)
  @Mutation(() => Said)
  say(@Arg('input', () => WordInput) input: WordInput): Said {
    return wordOf(input);
  }

  @InputReadBy(WordRequest)
  @Mutation(() => Said)
  mistake(@Arg('input', () => WordInput) input: Arguments, @Ctx() context: { valid_body?: object }): Said {
    return { by: readRequest(OtherRequest, input, context).word };
  }

  @InputReadBy(WordRequest)
  @Subscription(() => Said, {
    async *subscribe({ args }) {
      yield args.input.word;
    },
  })
  saying(@Arg('input', () => WordInput) input: WordInput, @Root() word: string): Said {
    return { by: `${word} ${wordOf(input).by}` };
  }
}

const { schema } = await buildSubgraph('words', { resolvers: [WordResolver] });
const operationFor = (field: string) => ({ schema, document: parse(`${field} { by } }`) });

it('an input is not copied where the body that an endpoint has validated by the same schema goes in its place', async () => {
  const say = (valid_body?: object) =>
    execute({ ...operationFor('mutation { say(input: {word: "hello"})'), contextValue: { valid_body } });
  expect(await say(parseBody(WordRequest, { word: 'hello' }))).toMatchObject({ data: { say: { by: 'null' } } });
  for (const other of [undefined, { word: 'hello' }, parseBody(z.object({ word: z.string() }), { word: 'hello' })])
    expect(await say(other)).toMatchObject({ data: { say: { by: 'hello' } } });
});

it('an input that is read by another schema than its field names is a fault of ours, which says so', async () => {
  const valid_body = parseBody(WordRequest, { word: 'hello' });
  const asked_so = { ...operationFor('mutation { mistake(input: {word: "hello"})'), contextValue: { valid_body } };
  expect(await execute(asked_so)).toMatchObject({ errors: [{ message: expect.stringContaining('another schema') }] });
});

it('an input is not copied for the events of a subscription, which was begun by it', async () => {
  const events = await subscribe({
    ...operationFor('subscription { saying(input: {word: "hello"})'),
    contextValue: {},
  });
  if (!(Symbol.asyncIterator in events)) throw new Error('it was refused');
  expect(await events.next()).toMatchObject({ value: { data: { saying: { by: 'hello null' } } } });
});
