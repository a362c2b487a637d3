import { join } from 'node:path';
import ts from 'typescript';

export interface ExportedNames {
  readonly values: readonly string[];
  readonly types: readonly string[];
}

/** Names in the type declarations of a package. */
interface PackageNames {
  /** Exported names of each file. */
  readonly exported: Readonly<Record<string, ExportedNames>>;
  /**
   * For each exported name that has any: its members at any depth, with `?` if optional, and its literals. Those of another exported name
   * are not repeated.
   */
  readonly members: Readonly<Record<string, readonly string[]>>;
}

/** @param files paths of `.d.ts` files in that folder */
export function exportedNames(folder: string, files: readonly string[]): PackageNames {
  const rootNames = files.map(file => join(folder, file));
  const program = ts.createProgram({ rootNames, options });
  const checker = program.getTypeChecker();
  const originOf = (symbol: ts.Symbol) =>
    symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
  const exportsOf = (file: string): readonly ts.Symbol[] => {
    const source = program.getSourceFile(file);
    const module = source && checker.getSymbolAtLocation(source);
    if (module === undefined) throw new Error(`${file} exports nothing`);
    return checker.getExportsOfModule(module);
  };
  const symbols = rootNames.map(exportsOf);
  const everywhere = new Set(symbols.flat().map(originOf));

  const membersOf = (exported: ts.Symbol): string[] => {
    const found: string[] = [];
    const seen = new Set<ts.Symbol>(everywhere);
    const visit = (node: ts.Node): void => {
      const named = nameIn(node);
      if (named !== null) found.push(named);
      const reference = referenceIn(node);
      const referred = reference && checker.getSymbolAtLocation(reference);
      if (referred) follow(originOf(referred));
      ts.forEachChild(node, visit);
    };
    const declarationsOf = ({ declarations = [] }: ts.Symbol) =>
      declarations.filter(it => isOwnFile(it.getSourceFile().fileName, folder));
    const follow = (symbol: ts.Symbol): void => {
      if (seen.has(symbol)) return;
      seen.add(symbol);
      declarationsOf(symbol).forEach(visit);
    };
    declarationsOf(exported).forEach(visit);
    return found;
  };

  const namesOf = (all: readonly ts.Symbol[], kind: ts.SymbolFlags) =>
    all.flatMap(symbol => (originOf(symbol).flags & kind ? [symbol.name] : [])).sort();
  const exported = files.map((file, at): [string, ExportedNames] => {
    const all = symbols[at] ?? [];
    return [file, { values: namesOf(all, ts.SymbolFlags.Value), types: namesOf(all, ts.SymbolFlags.Type) }];
  });
  const members = symbols
    .flat()
    .map((symbol): [string, string[]] => [symbol.name, membersOf(originOf(symbol))])
    .filter(([, names]) => names.length > 0);
  return { exported: Object.fromEntries(exported), members: Object.fromEntries(members) };
}

const options: ts.CompilerOptions = {
  strict: true,
  skipLibCheck: true,
  types: [],
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
};

const isOwnFile = (file: string, folder: string) => file.startsWith(folder) && !file.includes('/node_modules/');

/** Name of a member, with `?` if it is optional, or text of a literal. Null for any other node. */
function nameIn(node: ts.Node): string | null {
  if (ts.isStringLiteral(node)) return node.text;
  if (ts.isPropertySignature(node) || ts.isMethodSignature(node) || ts.isPropertyDeclaration(node))
    return ts.isPrivateIdentifier(node.name) ? null : `${node.name.getText()}${node.questionToken ? '?' : ''}`;
  return ts.isMethodDeclaration(node) || ts.isGetAccessor(node) ? node.name.getText() : null;
}

function referenceIn(node: ts.Node): ts.Node | null {
  if (ts.isTypeReferenceNode(node)) return node.typeName;
  return ts.isExpressionWithTypeArguments(node) ? node.expression : null;
}
