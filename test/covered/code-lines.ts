import ts from 'typescript';

/** Lines of a source that contain code, from 0: no types, imports, comments or lone brackets. */
export function codeLines(path: string, text: string): ReadonlySet<number> {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest);
  const lines = new Set<number>();
  const visit = (node: ts.Node): void => {
    if (isOnlyType(node)) return;
    if (isExecuted(node)) lines.add(source.getLineAndCharacterOfPosition(node.getStart(source)).line);
    ts.forEachChild(node, visit);
  };
  ts.forEachChild(source, visit);
  return lines;
}

function isOnlyType(node: ts.Node): boolean {
  if (ts.isTypeNode(node) && !ts.isExpressionWithTypeArguments(node)) return true;
  if (ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node) || ts.isTypeParameterDeclaration(node))
    return true;
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return true;
  if (ts.isFunctionDeclaration(node) || ts.isMethodDeclaration(node) || ts.isConstructorDeclaration(node))
    return node.body === undefined;
  return ts.canHaveModifiers(node) && (ts.getModifiers(node) ?? []).some(it => declares.has(it.kind));
}

const declares: ReadonlySet<ts.SyntaxKind> = new Set([ts.SyntaxKind.DeclareKeyword, ts.SyntaxKind.AbstractKeyword]);

/** Whether running the node runs the line on which it begins. That holds for no block, and a function runs by the nodes inside it. */
function isExecuted(node: ts.Node): boolean {
  if (ts.isBlock(node) || ts.isFunctionLike(node) || ts.isModifier(node)) return false;
  return ts.isStatement(node) || ts.isIdentifier(node) || ts.isLiteralExpression(node) || node.kind in keywords;
}

const keywords = {
  [ts.SyntaxKind.ThisKeyword]: true,
  [ts.SyntaxKind.TrueKeyword]: true,
  [ts.SyntaxKind.FalseKeyword]: true,
  [ts.SyntaxKind.NullKeyword]: true,
};
