import { isJsonObject, type JsonObject } from '../../schema/canonical-json.ts';

const SHARED = /^#\/components\/(responses|headers|parameters)\/(.+)$/;

/** A Response Object of OpenAPI. */
export interface DescribedResponse {
  readonly description: string;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly content?: Readonly<Record<string, unknown>>;
}

/** Pattern of the sentence that a response's description must have if a request with that status can have an empty body. */
export function wordsOfEmptyBody({ content }: DescribedResponse): RegExp {
  return content ? / If [^`]+, the body is empty\.$/ : /The body is empty\.$/;
}

/** Resolves the references of an OpenAPI document to responses, headers and parameters. References to schemas stay. */
export function withoutReferences<T>(document: T): T {
  const { components } = document as { readonly components: Readonly<Record<string, JsonObject>> };
  const resolved = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(resolved);
    if (!isJsonObject(value)) return value;
    const [, kind = '', name = ''] = SHARED.exec(String(value.$ref)) ?? [];
    if (kind === '') return Object.fromEntries(Object.entries(value).map(([member, each]) => [member, resolved(each)]));
    const component = components[kind]?.[name];
    if (component === undefined) throw new Error(`${value.$ref} is not in the document`);
    return resolved(component);
  };
  return resolved(document) as T;
}
