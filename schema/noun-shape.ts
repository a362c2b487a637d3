import * as z from 'zod';
import { camel } from './camel.ts';

/*
 * Reads the schema of a member without its wrappers: null, absence, default, list, and what is made of the value once it is valid.
 */

export interface MemberShape {
  /** Schema of the value itself (text, a number, an object); for a list, of its item. */
  readonly inner: z.core.$ZodType;
  readonly list: boolean;
  /** It may be null or left out. */
  readonly nullable: boolean;
  /** It may be null, and null means something else than leaving it out. */
  readonly takes_null: boolean;
  readonly default_value: unknown;
  /** Metadata of the member: an outer wrapper's replaces that of an inner one. Metadata of an item is not its list's. */
  readonly meta: z.GlobalMeta;
}

export function memberShape(shape: z.core.$ZodType): MemberShape {
  const known = shapes.get(shape) ?? unwrapShape(shape);
  shapes.set(shape, known);
  return known;
}

/** Kept, because schemas do not change and every request reads those of its endpoint. */
const shapes = new WeakMap<z.core.$ZodType, MemberShape>();

function unwrapShape(shape: z.core.$ZodType): MemberShape {
  const meta = z.globalRegistry.get(shape) ?? {};
  if (shape instanceof z.ZodArray) return { ...plain, inner: shape.element, list: true, meta };
  const wrapped = wrappedBy(shape);
  // A member that may be any JSON has null as a value like any other.
  if (wrapped === null) return { ...plain, inner: shape, meta, takes_null: shape instanceof z.ZodUnknown };
  const value = memberShape(wrapped);
  const known = { ...value, meta: { ...value.meta, ...meta } };
  if (shape instanceof z.ZodNullable) return { ...known, nullable: true, takes_null: true };
  if (shape instanceof z.ZodOptional) return { ...known, nullable: true };
  if (shape instanceof z.ZodDefault) return { ...known, default_value: shape.def.defaultValue };
  return known;
}

const plain = { list: false, nullable: false, takes_null: false, default_value: undefined };

/** The schema inside a wrapper, or the input of a pipe. Null if nothing wraps it. */
function wrappedBy(shape: z.core.$ZodType): z.core.$ZodType | null {
  if (shape instanceof z.ZodNullable || shape instanceof z.ZodOptional || shape instanceof z.ZodDefault)
    return shape.unwrap();
  if (shape instanceof z.ZodPipe) return shape.in instanceof z.ZodTransform ? shape.out : shape.in;
  return null;
}

/** The members of an object, whatever wraps it, or of all alternatives of a union. Empty for anything else. */
export function shapeMembers(shape: z.core.$ZodType): Readonly<Record<string, z.core.$ZodType>> {
  if (shape instanceof z.ZodObject) return shape.shape;
  if (shape instanceof z.ZodUnion) return Object.assign({}, ...shape.options.map(shapeMembers));
  if (shape instanceof z.ZodArray) return shapeMembers(shape.element);
  const wrapped = wrappedBy(shape);
  return wrapped === null ? {} : shapeMembers(wrapped);
}

/** A member of a request as the graph has it: the shape of its `argument`, if it has one, with the metadata of both. */
export function argumentShape(shape: z.core.$ZodType): MemberShape {
  const own = memberShape(shape);
  const { argument } = own.meta;
  if (!(argument instanceof z.core.$ZodType)) return own;
  const known = memberShape(argument);
  return { ...known, meta: { ...known.meta, ...own.meta } };
}

/** The member of a request with this name. Null if there is none: the name comes from the caller. */
export function namedMember(members: Readonly<Record<string, z.core.$ZodType>>, name: string): MemberShape | null {
  const shape = Object.hasOwn(members, name) ? members[name] : undefined;
  return shape ? argumentShape(shape) : null;
}

/** The name on the graph of a member with this name on the wire. */
export function graphName(member: string, { meta }: MemberShape): string {
  return meta.graph ?? camel(member);
}
