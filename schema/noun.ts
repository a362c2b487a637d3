import * as z from 'zod';
import type { AtomicAmount } from './amount.ts';
import type { Camel } from './camel.ts';
import type { Json, JsonObject } from './canonical-json.ts';
import { describedWords, type Words, wordList } from './words.ts';

/*
 * A noun: one zod object from which the REST answer, its OpenAPI schema, the operation and the GraphQL type are made. Its members have
 * a type, bounds, nullability and one description.
 */

declare module 'zod' {
  interface GlobalMeta {
    /** The field of the graph that a member shows, where that is not its name in camelCase. */
    graph?: string;
    /** Noun whose members are selected, if the schema of the member does not name them. */
    shows?: unknown;
    /** The scalar of the graph, where JSON has text, or a number beyond `Int`. */
    scalar?: 'AtomicAmount' | 'DateTime' | 'JSON' | 'JSONObject' | 'SafeInt';
    /** A field resolver computes the member, and takes its description from it (`descriptionOptions` in subgraphs/graph-type.ts). */
    computed?: true;
    /** Maximum length, in characters, of text that somebody has chosen: its weight in the cost of a query. */
    chars_max?: number;
    /** Its weight in the cost of a query, where more than a column is read for it. */
    cost?: number;
    /** Number of items that the cost of a query counts for a list. */
    assumed_items?: number;
    /** The table of the words that it may hold: an enum on the graph. */
    words?: Words;
    /** A member of a request that comes in a header on the graph, and is therefore no argument there. */
    by_header?: true;
    /** A member of a request that is an argument beside the `input` on the graph, and no field of the input. */
    beside_input?: true;
    /** Schema of a member of a request on the graph, if REST accepts more spellings or has another default. */
    argument?: unknown;
    /** True for a member of a request that the graph does not have: an alias, or a member that is refused or has no effect. */
    rest_only?: true;
  }
}

/** Members of zod's metadata that are no part of a JSON Schema. */
export const nounMeta = [
  'graph',
  'shows',
  'scalar',
  'computed',
  'chars_max',
  'cost',
  'assumed_items',
  'words',
  'by_header',
  'beside_input',
  'argument',
  'rest_only',
] as const;

/** One of the words of a table, each described with what it means: an enum on the graph. */
export function word<W extends string>(table: Words<W>) {
  return z.enum(wordList(table)).describe(describedWords(table)).meta({ words: table });
}

/** The same as `word`, for older members, of which OpenAPI says only that they are text, not described. New members take `word`. */
export function wordText<W extends string>(table: Words<W>): ShownAs<z.ZodString, W> {
  return z.string().meta({ words: table }) as unknown as ShownAs<z.ZodString, W>;
}

/** A schema whose value resolvers hand over as a `T`. The key is no symbol, so that declarations of the packages can name it. */
type ShownAs<S, T> = S & { readonly '~shown': T };

/** Ends the description of all text that an agent has written. */
export const BY_AGENT = 'Written by an agent: show it as plain text only.';

/** Text of an agent, described by `what` it is. `chars_max` as in `untrustedText`. */
export function untrusted(what: string, chars_max?: number) {
  return untrustedText(chars_max).describe(`${what} ${BY_AGENT}`);
}

/** USDC: digits on the wire, `AtomicAmount` on the graph. */
export const AtomicMember = z
  .string()
  .regex(/^[0-9]+$/)
  .describe('Amount in atomic USDC.')
  .meta({ scalar: 'AtomicAmount' }) as unknown as ShownAs<z.ZodString, AtomicAmount>;

/** The same as `AtomicMember`, for older members, of which OpenAPI says only that they are text. New members take `AtomicMember`. */
export const AmountTextMember = z.string().meta({ scalar: 'AtomicAmount' }) as unknown as ShownAs<
  z.ZodString,
  AtomicAmount
>;

/** A time: RFC 3339 on the wire, `DateTime` on the graph. */
export const MomentMember = z.iso.datetime().meta({ scalar: 'DateTime' }) as unknown as ShownAs<z.ZodISODateTime, Date>;

/** The same as `MomentMember`, for older members, of which OpenAPI says only that they are text. New members take `MomentMember`. */
export const TimeMember = z.string().meta({ scalar: 'DateTime' }) as unknown as ShownAs<z.ZodString, Date>;

/** A whole number beyond `Int`. */
export const SafeIntMember = z.int().meta({ scalar: 'SafeInt' });

/** 32 bytes in lower-case hex, such as a SHA-256. */
export const HashMember = z.string().regex(/^[0-9a-f]{64}$/);

/** A document whose members another schema describes. */
export const JsonMember = z.record(z.string(), z.unknown()).meta({ scalar: 'JSONObject' }) as unknown as ShownAs<
  z.ZodRecord<z.ZodString, z.ZodUnknown>,
  JsonObject
>;

/** Any JSON. */
export const AnyJsonMember = z.unknown().meta({ scalar: 'JSON' }) as unknown as ShownAs<z.ZodUnknown, Json>;

/** A document with members that REST describes, and that is one JSON object on the graph. */
export function shownAsJson<S extends z.ZodType>(shape: S): ShownAs<S, JsonObject> {
  return shape.meta({ scalar: 'JSONObject' }) as unknown as ShownAs<S, JsonObject>;
}

/** One of some words. An answer that an earlier version has stored may hold another. */
export function keptWord<S extends z.ZodType<string>>(word: S): ShownAs<S, string> {
  return word as unknown as ShownAs<S, string>;
}

/** A schema whose values resolvers return as a `T`, which is shown by its own class. */
export function withGraphClass<T>() {
  return <S extends z.ZodType>(shape: S): ShownAs<S, T> => shape as unknown as ShownAs<S, T>;
}

/** A list, for which the cost of a query counts `assumed_items` items. */
export function sizedList<S extends z.ZodType>(item: S, assumed_items: number): z.ZodArray<S> {
  return z.array(item).meta({ assumed_items });
}

/** A member whose field of the graph has another name than its own in camelCase. */
export function onGraph<S extends z.ZodType, N extends string>(graph: N, shape: S): S & NamedOnGraph<N> {
  return shape.meta({ graph }) as S & NamedOnGraph<N>;
}
type NamedOnGraph<N extends string> = { readonly '~named': N };

/** Text of an agent. `chars_max` is its maximum length, given where it is long enough to count in the cost of a query. */
export function untrustedText(chars_max?: number) {
  const text = z.string().describe(BY_AGENT);
  return chars_max === undefined ? text : text.meta({ chars_max });
}

/** A member that a field resolver computes; `MembersOf` leaves it out. */
export function computedMember<S extends z.ZodType>(shape: S): ShownAs<S, 'by resolver'> {
  return shape.meta({ computed: true }) as unknown as ShownAs<S, 'by resolver'>;
}

/** Members of a request that REST has and the graph does not. */
export function restOnly<M extends Readonly<Record<string, z.ZodType>>>(members: M): M {
  const marked = Object.entries(members).map(([name, shape]) => [name, shape.meta({ rest_only: true })]);
  return Object.fromEntries(marked) as M;
}

/** A member of a request that may be left out or null, which mean the same: a retry may send one in place of the other. */
export function leftOutOrNull<S extends z.ZodType>(shape: S): z.ZodOptional<z.ZodNullable<S>> {
  return shape.nullish().overwrite(value => value ?? undefined);
}

/** Members of a request after it was read: a member that was left out is null. */
export type NullIfLeftOut<T> = { readonly [K in keyof T]-?: NonNullable<T[K]> | null };

/** Value of a member as resolvers hand it over. A member that JSON may leave out is null on the graph. */
type MemberValue<S> =
  S extends ShownAs<unknown, infer T>
    ? T
    : S extends z.ZodNullable<infer I> | z.ZodOptional<infer I>
      ? MemberValue<I> | null
      : S extends z.ZodArray<infer I>
        ? readonly MemberValue<I>[]
        : S extends z.ZodObject
          ? MembersOf<S>
          : S extends z.ZodType
            ? z.output<S>
            : never;

/** JSON form of a noun as it is signed, stored or sent. All members are read-only. */
export type DocumentOf<N extends z.ZodType> = Unchanged<z.output<N>>;
type Unchanged<T> = T extends readonly (infer I)[]
  ? readonly Unchanged<I>[]
  : T extends object
    ? { readonly [K in keyof T]: Unchanged<T[K]> }
    : T;

type GraphName<K extends string, S> = S extends NamedOnGraph<infer N> ? N : Camel<K>;

/** Members of a noun as resolvers hand them over, without those that are computed. */
export type MembersOf<N extends z.ZodObject> = {
  [K in keyof N['shape'] & string as MemberValue<N['shape'][K]> extends 'by resolver'
    ? never
    : GraphName<K, N['shape'][K]>]: MemberValue<N['shape'][K]>;
};

/**
 * The object from which a noun is shown, with its members named as in JSON or as on the graph. Only members that may be null or that are
 * computed can be left out.
 */
export type ShowableAs<N extends z.ZodObject> = {
  readonly [K in keyof N['shape'] & string as MayLack<N['shape'][K]> extends true ? never : K]: Showable<N['shape'][K]>;
} & {
  readonly [K in keyof N['shape'] & string as MayLack<N['shape'][K]> extends true ? K : never]?:
    | Showable<N['shape'][K]>
    | undefined;
};
type MayLack<S> = null extends MemberValue<S> ? true : MemberValue<S> extends 'by resolver' ? true : false;
type Showable<S> =
  S extends ShownAs<z.ZodType, infer T>
    ? T extends 'by resolver'
      ? unknown
      : T | DocumentOf<S>
    : S extends z.ZodNullable<infer I> | z.ZodOptional<infer I>
      ? Showable<I> | null
      : S extends z.ZodArray<infer I>
        ? readonly Showable<I>[]
        : S extends z.ZodObject
          ? ShowableAs<S>
          : S extends z.ZodType
            ? z.output<S>
            : never;
