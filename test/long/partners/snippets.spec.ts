// The backends in Go, Java, PHP and Ruby that a partner copies, if their tools and packages are available.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SnippetLanguage } from '../../partner/support/snippet-run.js';
import { describeSnippet } from '../../partner/support/snippet-run.js';
import { describeUnless } from '../../support/describe-unless.js';
import { isWholeSeries } from '../../support/series.js';
import { REPOSITORY } from '../../support/source-files.js';

const example = (...path: string[]) =>
  readFileSync(join(REPOSITORY, 'examples', 'partners', ...path), 'utf8');

const GO = `package main

import (
	"encoding/json"
	"net/http/httptest"
	"os"
)

func main() {
	user := User{ID: "customer-1", Email: "ada@partner.example"}
	frame, nobody := httptest.NewRecorder(), httptest.NewRecorder()
	SendFrameToken(frame, &user)
	SendFrameToken(nobody, nil)
	access, err := AccessToken(user)
	if err != nil {
		panic(err)
	}
	said := map[string]any{"frame": frame.Body.String(), "nobody": nobody.Code, "access": access}
	_ = json.NewEncoder(os.Stdout).Encode(said)
}
`;

/** Its route answers 401 by itself: the program signs for a user only. */
const JAVA = `public final class Main {
  public static void main(String[] args) throws Exception {
    String user = "customer-1";
    String email = "ada@partner.example";
    System.out.println("{\\"frame\\":\\"" + Automation.frameToken(user, email) + "\\",\\"nobody\\":401,\\"access\\":\\""
        + Automation.accessToken(user, email) + "\\"}");
  }
}
`;

const PHP = `<?php
require 'vendor/autoload.php';
require 'automation.php';
$user = ['id' => 'customer-1', 'email' => 'ada@partner.example'];
ob_start();
send_frame_token($user);
$frame = ob_get_clean();
send_frame_token(null);
echo json_encode(['frame' => $frame, 'nobody' => http_response_code(), 'access' => access_token($user)]);
`;

const RUBY = `require "json"
require_relative "automation"

user = { id: "customer-1", email: "ada@partner.example" }
frame = Automation.frame_token(user).last.first
nobody = Automation.frame_token(nil).first
puts JSON.generate(frame: frame, nobody: nobody, access: Automation.access_token(user))
`;

const MOVE_SOURCES = 'mkdir -p src/main/java && mv Automation.java Main.java src/main/java/';

const LANGUAGES: readonly (SnippetLanguage & { readonly tool: readonly [string, ...string[]] })[] = [
  {
    id: 'go',
    tool: ['go', 'version'],
    files: { 'main.go': GO, 'go.mod': example('go', 'go.mod'), 'go.sum': example('go', 'go.sum') },
    commands: [['go', 'run', '.']],
  },
  {
    id: 'java',
    tool: ['mvn', '--version'],
    files: { 'Main.java': JAVA, 'pom.xml': example('java', 'pom.xml') },
    commands: [
      ['sh', '-c', MOVE_SOURCES],
      [
        ...(['mvn', '--quiet', '--batch-mode', 'compile', 'dependency:build-classpath'] as const),
        '-Dmdep.outputFile=classpath.txt',
      ],
      ['sh', '-c', 'java -cp "target/classes:$(cat classpath.txt)" Main'],
    ],
  },
  {
    id: 'php',
    tool: ['composer', 'show', '--all', 'firebase/php-jwt'],
    files: { 'main.php': PHP },
    commands: [
      ['composer', 'require', '--quiet', '--no-interaction', 'firebase/php-jwt'],
      ['php', 'main.php'],
    ],
  },
  {
    id: 'ruby',
    tool: ['ruby', '-e', 'require "jwt"'],
    files: { 'main.rb': RUBY },
    commands: [['ruby', 'main.rb']],
  },
];

for (const language of LANGUAGES) {
  const [program, ...args] = language.tool;
  const isThere = isWholeSeries && spawnSync(program, args).status === 0;
  const missing = isWholeSeries
    ? `${language.tool.join(' ')} fails on this machine`
    : 'fetches packages, run it by `npm run test:long -- partners`';
  describeUnless(isThere ? undefined : missing, language.id, () => describeSnippet(language));
}
