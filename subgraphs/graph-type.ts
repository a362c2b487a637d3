import { GraphQLJSONObject } from 'graphql-scalars';
import { Directive, Field, Int } from 'type-graphql';
import { z } from 'zod';
import { camel } from '../schema/camel.ts';
import { AtomicAmountScalar, DateTimeScalar } from '../schema/scalars.ts';
import { costOfText } from './page-cost.ts';

/** Enums and types of the graph, by the members of a noun that are of them; a text of a list of words is a String without one. */
type GraphTypes = Readonly<Record<string, object>>;

/** Shows the members of a noun as fields of a class. What is computed is shown by the resolver that computes it. */
export function showMembers(type: new () => object, noun: z.ZodObject, types: GraphTypes = {}): void {
  for (const [member, shape] of Object.entries(noun.shape)) {
    const { inner, nullable, list, meta } = unwrapped(shape);
    const { description, chars_max, computed, assumed_items, graph } = meta;
    if (computed) continue;
    const property = graph ?? camel(member);
    const graph_type = (types[member] ?? scalarOf(inner)) as typeof String;
    Field(() => (list ? [graph_type] : graph_type), { nullable, ...(description && { description }) })(
      type.prototype,
      property,
    );
    if (chars_max !== undefined) Directive(costOfText(chars_max))(type.prototype, property);
    if (assumed_items !== undefined) Directive(`@listSize(assumedSize: ${assumed_items})`)(type.prototype, property);
  }
}

/** What a field resolver says of the member that it computes. @throws Error where the member has no description */
export function describedBy({ description }: z.ZodType): { readonly description: string } {
  if (description === undefined) throw new Error('a computed member has no description');
  return { description };
}

interface Unwrapped {
  readonly inner: z.core.$ZodType;
  readonly nullable: boolean;
  readonly list: boolean;
  readonly meta: z.GlobalMeta;
}

/** What is said of a member is said of what may be null, or of its value. What is said of an item of a list is not said of the list. */
function unwrapped(shape: z.core.$ZodType): Unwrapped {
  const meta = z.globalRegistry.get(shape) ?? {};
  if (shape instanceof z.ZodArray) return { inner: shape.element, nullable: false, list: true, meta };
  if (!(shape instanceof z.ZodNullable || shape instanceof z.ZodOptional))
    return { inner: shape, nullable: false, list: false, meta };
  const value = unwrapped(shape.unwrap());
  return { ...value, nullable: true, meta: { ...value.meta, ...meta } };
}

const scalars = { AtomicAmount: AtomicAmountScalar, DateTime: DateTimeScalar, JSONObject: GraphQLJSONObject } as const;

/** @throws Error where a noun has a member for which the graph has no type */
function scalarOf(shape: z.core.$ZodType): object {
  const { scalar } = z.globalRegistry.get(shape) ?? {};
  if (scalar !== undefined) return scalars[scalar];
  if (shape instanceof z.ZodString || shape instanceof z.ZodEnum || shape instanceof z.ZodLiteral) return String;
  if (shape instanceof z.ZodBoolean) return Boolean;
  // z.int() is a number of a format.
  if (shape instanceof z.ZodNumber && shape.format === 'safeint') return Int;
  throw new Error(`no type of the graph shows a ${shape._zod.def.type}`);
}
