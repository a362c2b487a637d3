import { graphql, isObjectType } from 'graphql';
import { Arg, Field, ObjectType, Query, Resolver } from 'type-graphql';
import { expect, it } from 'vitest';
import { z } from 'zod';
import {
  AtomicMember,
  computedMember,
  JsonMember,
  MomentMember,
  onGraph,
  restOnly,
  sizedList,
  TimeMember,
  untrustedText,
} from '../../schema/noun.ts';
import { parseBody } from '../../schema/requests/parse.ts';
import { wordEnum } from '../../subgraphs/graph-enum.ts';
import {
  type Arguments,
  inputType,
  membersOf,
  objectType,
  readRequest,
  showMembers,
  shownOf,
  showsNoun,
  typeNameOf,
  withKey,
} from '../../subgraphs/graph-type.ts';
import { buildSubgraph } from '../../subgraphs/subgraph.ts';

const ThingNoun = z.object({
  thing_id: z.string().describe('Id of the thing.'),
  price: AtomicMember.nullable().describe('Its price.'),
  made_at: MomentMember,
  count: z.int(),
  is_new: z.boolean(),
  untrusted_text: untrustedText(1_000).nullable(),
  url: computedMember(z.string()),
  names: sizedList(z.string(), 7).nullable(),
  note: z.string().optional(),
  seen_at: TimeMember.nullable(),
  amount: onGraph('amountAtomic', z.string()),
  document: JsonMember,
  grid: z.array(z.array(z.int())),
  version: z.literal(1),
});

@ObjectType('Thing')
class Thing extends membersOf(ThingNoun) {}
showMembers(Thing, ThingNoun);

@Resolver()
class ThingResolver {
  @Query(() => Thing)
  thing(): Thing {
    return new Thing();
  }
}

it('shows each member of a noun by its type, nullability and description, but for what a resolver computes', async () => {
  const { schema, sdl } = await buildSubgraph('things', { resolvers: [ThingResolver] });
  const type = schema.getType('Thing');
  const fields = isObjectType(type) ? Object.values(type.getFields()) : [];
  expect(Object.fromEntries(fields.map(({ name, type }) => [name, String(type)]))).toEqual({
    thingId: 'String!',
    price: 'AtomicAmount',
    madeAt: 'DateTime!',
    count: 'Int!',
    isNew: 'Boolean!',
    untrustedText: 'String',
    names: '[String!]',
    note: 'String',
    seenAt: 'DateTime',
    amountAtomic: 'String!',
    document: 'JSONObject!',
    grid: '[[Int!]!]!',
    version: 'Int!',
  });
  expect(fields.map(({ description }) => description)).toEqual(
    expect.arrayContaining(['Id of the thing.', 'Its price.', 'Written by an agent: show it as plain text only.']),
  );
  expect(sdl).toContain('untrustedText: String @cost(weight: 10)');
  expect(sdl).toContain('names: [String!] @listSize(assumedSize: 7)');
});

it('fails to build a graph with a member that no type of it shows', async () => {
  const OddNoun = z.object({ any: z.record(z.string(), z.string()) });
  @ObjectType('Odd')
  class Odd extends membersOf(OddNoun) {}
  showMembers(Odd, OddNoun);
  @Resolver()
  class OddResolver {
    @Query(() => Odd)
    odd(): Odd {
      return new Odd();
    }
  }
  await expect(buildSubgraph('odd', { resolvers: [OddResolver] })).rejects.toThrow('shows a record');
});

const PartNoun = z.object({ count: z.int() });
const Part = objectType('Part', 'A part.', PartNoun);
objectType('SamePart', 'The same part, as others show it.', PartNoun);

it('fails to build a graph with a member whose noun two classes show, unless its type is named', async () => {
  const WholeNoun = z.object({ part: PartNoun });
  @ObjectType('Whole')
  class Whole extends membersOf(WholeNoun) {}
  @ObjectType('NamedWhole')
  class NamedWhole extends membersOf(WholeNoun) {}
  showMembers(Whole, WholeNoun);
  showMembers(NamedWhole, WholeNoun, { part: Part });
  @Resolver()
  class WholeResolver {
    @Query(() => Whole)
    whole(): Whole {
      return new Whole();
    }
  }
  @Resolver()
  class NamedResolver {
    @Query(() => NamedWhole)
    whole(): NamedWhole {
      return new NamedWhole();
    }
  }
  await expect(buildSubgraph('whole', { resolvers: [WholeResolver] })).rejects.toThrow('Part or SamePart');
  const { sdl } = await buildSubgraph('named', { resolvers: [NamedResolver] });
  expect(sdl).toContain('part: Part!');
});

it('names the one type that it has made of a noun, whatever is said of that', () => {
  const LeafNoun = z.object({ id: z.string() });
  objectType('Leaf', 'A leaf.', LeafNoun);
  expect(typeNameOf(LeafNoun.describe('The leaf of a thing.'))).toBe('Leaf');
  expect(() => typeNameOf(PartNoun)).toThrow('Part or SamePart');
  expect(() => typeNameOf(z.object({ id: z.string() }))).toThrow();
});

it('makes one enum of a table of words, and none of another table of that name', () => {
  const table = { graph: 'Hue', description: 'A hue.', meanings: { red: 'Red.' } };
  expect(wordEnum(table)).toBe(wordEnum(table));
  expect(() => wordEnum({ ...table, meanings: { blue: 'Blue.' } })).toThrow('Hue');
});

it('reads a body that an endpoint has validated, whatever its members are called', () => {
  const schema = z.looseObject({ seen: z.string().meta({ by_header: true }), kept: z.string() });
  const valid_body = parseBody(schema, { seen: 'x', kept: 'y', constructor: 1, toString: 2 });
  expect(readRequest(schema, {}, { valid_body })).toEqual({ kept: 'y', constructor: 1, toString: 2 });
});

it('hands a document of the wire over by the names of the graph, with null for what it lacks', () => {
  const CallNoun = z.object({ call_id: z.string(), url: computedMember(z.string()) });
  const AnswerNoun = z.object({
    made_at: onGraph('at', z.int()),
    tool_calls: z.array(CallNoun).optional(),
    free_form: JsonMember,
    note: z.string().nullable(),
  });
  const document = { made_at: 1, tool_calls: [{ call_id: 'a', type: 'x' }], free_form: { a_b: { c_d: 1 } }, beside: 2 };
  expect(shownOf(AnswerNoun, document)).toEqual({
    at: 1,
    toolCalls: [{ callId: 'a' }],
    freeForm: { a_b: { c_d: 1 } },
    note: null,
  });
  expect(shownOf(AnswerNoun, { ...document, tool_calls: undefined })).toMatchObject({ toolCalls: null });
  // @ts-expect-error A member that is never null cannot be left out.
  shownOf(AnswerNoun, { free_form: {} });
});

it('takes a member as the graph has it, and none that REST alone has', async () => {
  const CallRequest = z.object({
    kind: z
      .string()
      .nullish()
      .meta({ argument: z.string().default('usual') })
      .describe('Its kind.'),
    stop: z
      .union([z.string(), z.array(z.string())])
      .nullish()
      .meta({ argument: z.array(z.string()).nullish() }),
    ...restOnly({ halt: z.string().nullish() }),
  });
  const CallInput = inputType('CallInput', 'A call.', CallRequest);
  @Resolver()
  class CallResolver {
    @Query(() => String)
    call(@Arg('input', () => CallInput) input: Arguments): string {
      return JSON.stringify(readRequest(CallRequest, input));
    }
  }
  const { schema, sdl } = await buildSubgraph('calls', { resolvers: [CallResolver] });
  expect(sdl).toContain('kind: String! = "usual"');
  expect(sdl).toContain('stop: [String!]');
  expect(sdl).not.toContain('halt');
  const { data } = await graphql({ schema, source: '{ call(input: { stop: ["a"] }) }' });
  expect(data).toEqual({ call: '{"kind":"usual","stop":["a"]}' });
});

it('names the member at fault, whatever it is called', () => {
  const schema = z.object({ kept: z.string() }).refine(() => false, { path: ['constructor'], error: 'is no good' });
  expect(() => readRequest(schema, { kept: 'y' })).toThrow('constructor: is no good');
});

const PlankNoun = z.object({ plank_id: z.string() });
objectType('Plank', 'A plank.', PlankNoun);

/** An object type whose fields come from another table. */
@ObjectType('Store')
class Store {
  @Field(() => String) name!: string;
}
const StoreNoun = z.object({ sum: AtomicMember });
showsNoun(Store, StoreNoun);

const ShelfNoun = z.object({ shelf_id: z.int(), made_at: MomentMember });
const ShelfOnGraph = z.object({ planks: z.array(PlankNoun), store: StoreNoun.nullable().describe('All of it.') });
const Shelf = withKey(objectType('Shelf', 'A shelf.', ShelfNoun, ShelfOnGraph), 'shelfId');

@Resolver()
class ShelfResolver {
  @Query(() => Shelf)
  shelf(): InstanceType<typeof Shelf> {
    throw new Error('is not called');
  }
}

it('shows by its key a type with members that the graph alone has, and a noun by the class that shows it', async () => {
  const { sdl } = await buildSubgraph('shelves', { resolvers: [ShelfResolver] });
  const shelf = /type Shelf @key\(fields: "shelfId"\) \{([^}]*)\}/.exec(sdl)?.[1] ?? '';
  expect(shelf.match(/\w+: .*/g)).toEqual(['madeAt: DateTime!', 'planks: [Plank!]!', 'shelfId: Int!', 'store: Store']);
});

it('makes of JSON on the wire what resolvers hand over: amounts, times, and null for what is left out', () => {
  const noun = z.object({
    price_atomic: AtomicMember,
    cap: AtomicMember.nullable(),
    made_at: MomentMember,
    parts: z.array(z.object({ part_price: AtomicMember })),
    first_part: z.object({ seen_at: TimeMember }).optional(),
    raw: JsonMember,
    url: computedMember(z.string()),
  });
  const said = {
    price_atomic: '12',
    made_at: '2026-01-02T03:04:05Z',
    parts: [{ part_price: '7' }],
    first_part: { seen_at: '2026-01-01T00:00:00Z' },
    raw: { part_price: '7' },
    url: 'is computed',
    other: 'is no member',
  };
  expect(shownOf(noun, said)).toEqual({
    priceAtomic: 12n,
    cap: null,
    madeAt: new Date('2026-01-02T03:04:05Z'),
    parts: [{ partPrice: 7n }],
    firstPart: { seenAt: new Date('2026-01-01T00:00:00Z') },
    raw: { part_price: '7' },
  });
});
