"""Java and Kotlin: Maven and Gradle, through their wrappers if the repository has them."""

from forge_bot.project.detected_commands import DetectedCommands, ProjectCommands, command
from forge_bot.project.file_list import Listing

_GRADLE_FILES = ("settings.gradle.kts", "settings.gradle", "build.gradle.kts", "build.gradle")


def find(listing: Listing) -> DetectedCommands:
    """Return the commands of the Maven or Gradle build at the root."""
    if listing.has("pom.xml"):
        maven = ("sh", "mvnw") if listing.has("mvnw") else ("mvn",)
        quiet = (*maven, "-B", "-ntp")
        return DetectedCommands(
            commands=ProjectCommands(
                setup=(command("pom.xml", *quiet, "-q", "dependency:go-offline"),),
                build=(command("pom.xml", *quiet, "-q", "test-compile"),),
                test=(command("pom.xml", *quiet, "test"),),
            )
        )
    manifest = listing.first("", _GRADLE_FILES)
    if not manifest:
        return DetectedCommands()
    gradle = (
        *(("sh", "gradlew") if listing.has("gradlew") else ("gradle",)),
        "--no-daemon",
        "--console=plain",
    )
    return DetectedCommands(
        commands=ProjectCommands(
            setup=(command(manifest, *gradle, "-q", "testClasses"),),
            build=(command(manifest, *gradle, "assemble"),),
            test=(command(manifest, *gradle, "test", "--continue"),),
        )
    )
