import * as z from 'zod';

/*
 * What a schema of a member is beneath all that wraps it: null, absence, defaults, lists and what is made of the value once it is valid.
 */

export interface MemberShape {
  /** Text, a number, an object …: of a list its item. */
  readonly inner: z.core.$ZodType;
  readonly list: boolean;
  /** It may be null or left out. */
  readonly nullable: boolean;
  /** It may be null, and that says something else than being left out. */
  readonly takes_null: boolean;
  readonly default_value: unknown;
  /** What is said of the member: of what wraps it before what is wrapped. What is said of an item is not said of its list. */
  readonly meta: z.GlobalMeta;
}

export function memberShape(shape: z.core.$ZodType): MemberShape {
  const known = shapes.get(shape) ?? unwrapped(shape);
  shapes.set(shape, known);
  return known;
}

/** Schemas do not change, and each request of an endpoint asks for its own. */
const shapes = new WeakMap<z.core.$ZodType, MemberShape>();

function unwrapped(shape: z.core.$ZodType): MemberShape {
  const meta = z.globalRegistry.get(shape) ?? {};
  if (shape instanceof z.ZodArray) return { ...plain, inner: shape.element, list: true, meta };
  const wrapped = wrappedBy(shape);
  // Of what may be any JSON null is a value like any other.
  if (wrapped === null) return { ...plain, inner: shape, meta, takes_null: shape instanceof z.ZodUnknown };
  const value = memberShape(wrapped);
  const known = { ...value, meta: { ...value.meta, ...meta } };
  if (shape instanceof z.ZodNullable) return { ...known, nullable: true, takes_null: true };
  if (shape instanceof z.ZodOptional) return { ...known, nullable: true };
  if (shape instanceof z.ZodDefault) return { ...known, default_value: shape.def.defaultValue };
  return known;
}

const plain = { list: false, nullable: false, takes_null: false, default_value: undefined };

/** What is sent, where something is made of it. Of a union of which each says the same kind of value, the first. */
function wrappedBy(shape: z.core.$ZodType): z.core.$ZodType | null {
  if (shape instanceof z.ZodNullable || shape instanceof z.ZodOptional || shape instanceof z.ZodDefault)
    return shape.unwrap();
  if (shape instanceof z.ZodPipe) return shape.in instanceof z.ZodTransform ? shape.out : shape.in;
  return null;
}

/** The members of an object, whatever wraps it; none of what is no object. Of alternatives all that any of them has. */
export function shapeMembers(shape: z.core.$ZodType): Readonly<Record<string, z.core.$ZodType>> {
  if (shape instanceof z.ZodObject) return shape.shape;
  if (shape instanceof z.ZodUnion) return Object.assign({}, ...shape.options.map(shapeMembers));
  if (shape instanceof z.ZodArray) return shapeMembers(shape.element);
  const wrapped = wrappedBy(shape);
  return wrapped === null ? {} : shapeMembers(wrapped);
}
